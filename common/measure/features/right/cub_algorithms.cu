// CUB: of the device (sort, scan, reduce, histogram, select, run lengths, segments) and of blocks
// and warps.
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "../feature.h"

template <int kThreads, int kItems>
__global__ void blocks(const int* in, int* sorted, int* scanned, int* total) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  using Scan = cub::BlockScan<int, kThreads>;
  using Sum = cub::BlockReduce<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
    typename Sum::TempStorage sum;
  } t;
  int v[kItems], w[kItems];
  const int at = blockIdx.x * kThreads * kItems;
  Load(t.load).Load(in + at, v);
  __syncthreads();
  int whole = Sum(t.sum).Sum(v);
  if (threadIdx.x == 0) total[blockIdx.x] = whole;
  __syncthreads();
  Scan(t.scan).InclusiveSum(v, w);
  __syncthreads();
  Store(t.store).Store(scanned + at, w);
  __syncthreads();
  Sort(t.sort).Sort(v);
  __syncthreads();
  Store(t.store).Store(sorted + at, v);
}

__global__ void warps(const int* in, int* out) {
  using Sum = cub::WarpReduce<int, 16>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Sum::TempStorage s[8];
  __shared__ typename Scan::TempStorage c[4];
  int v = in[threadIdx.x], scan;
  int sum = Sum(s[threadIdx.x / 16]).Sum(v);
  Scan(c[threadIdx.x / 32]).ExclusiveSum(v, scan);
  out[threadIdx.x] = scan;
  if (threadIdx.x % 16 == 0) out[128 + threadIdx.x / 16] = sum;
}

int main() {
  const int n = 4096;
  auto h = random_ints(n, 1000);
  int *in = to_device(h), *out = to_device(std::vector<int>(n)), *other = to_device(h),
      *count = to_device(std::vector<int>(64));
  void* room = nullptr;
  size_t size = 0;
  auto twice = [&](auto call) {
    room = nullptr, size = 0;
    OK(call());
    OK(cudaMalloc(&room, size));
    OK(call());
    OK(cudaDeviceSynchronize());
    OK(cudaFree(room));
  };
  auto sorted = h;
  std::sort(sorted.begin(), sorted.end());
  twice([&] { return cub::DeviceRadixSort::SortKeys(room, size, in, out, n); });
  expect("radix sort", from_device(out, n) == sorted);
  std::vector<int> sums(n);
  std::partial_sum(h.begin(), h.end(), sums.begin());
  twice([&] { return cub::DeviceScan::InclusiveSum(room, size, in, other, n); });
  expect("scan", from_device(other, n) == sums);
  twice([&] { return cub::DeviceReduce::Max(room, size, in, count, n); });
  expect("maximum", from_device(count, 1)[0] == sorted.back());
  twice([&] { return cub::DeviceHistogram::HistogramEven(room, size, in, count, 11, 0, 1000, n); });
  std::vector<int> bins(10);
  for (int x : h) ++bins[x / 100];
  expect("histogram", from_device(count, 10) == bins);
  int* runs = to_device(std::vector<int>(n));
  twice([&] { return cub::DeviceRunLengthEncode::Encode(room, size, out, other, runs, count, n); });
  const int different = int(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
  expect("run lengths", from_device(count, 1)[0] == different);
  twice([&] {
    return cub::DeviceSelect::If(room, size, in, other, count, n,
                                 [] __device__(int v) { return v > 900; });
  });
  expect("select", from_device(count, 1)[0] ==
                       std::count_if(h.begin(), h.end(), [](int v) { return v > 900; }));
  int* offsets = to_device(std::vector<int>{0, 100, 100, 1500, n});
  twice([&] {
    return cub::DeviceSegmentedReduce::Sum(room, size, in, count, 4, offsets, offsets + 1);
  });
  auto seg = from_device(count, 4);
  expect("segments", seg[0] == sums[99] && seg[1] == 0 && seg[2] == sums[1499] - sums[99] &&
                         seg[3] == sums[n - 1] - sums[1499]);
  blocks<128, 4><<<n / 512, 128>>>(in, out, other, count);
  auto bs = from_device(out, n), bc = from_device(other, n), bt = from_device(count, n / 512);
  bool right = true;
  for (int b = 0; b < n / 512; ++b) {
    std::vector<int> part(h.begin() + 512 * b, h.begin() + 512 * (b + 1));
    right &= bt[b] == std::accumulate(part.begin(), part.end(), 0) && bc[512 * b + 511] == bt[b];
    std::sort(part.begin(), part.end());
    right &= std::equal(part.begin(), part.end(), bs.begin() + 512 * b);
  }
  expect("blocks", right);
  warps<<<1, 128>>>(in, out);
  auto w = from_device(out, 136);
  right = true;
  for (int i = 0, sum = 0; i < 128; ++i) {
    if (i % 32 == 0) sum = 0;
    right &= w[i] == sum;
    sum += h[i];
  }
  for (int i = 0; i < 8; ++i)
    right &= w[128 + i] == std::accumulate(h.begin() + 16 * i, h.begin() + 16 * i + 16, 0);
  expect("warps", right);
  for (int* p : {in, out, other, count, runs, offsets}) OK(cudaFree(p));
  return finish();
}
