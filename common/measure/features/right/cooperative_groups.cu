// Groups of threads: tiles, coalesced and labelled groups, reduce, scan, invoke_one, a grid that
// meets.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "../feature.h"
namespace cg = cooperative_groups;

__global__ void tiles(const int* in, int* sum8, int* max32, int* scan16, int* before16) {
  auto block = cg::this_thread_block();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto t8 = cg::tiled_partition<8>(block);
  auto t16 = cg::tiled_partition<16>(block);
  auto t32 = cg::tiled_partition<32>(block);
  const int s = cg::reduce(t8, in[i], cg::plus<int>());
  if (t8.thread_rank() == 0) sum8[i / 8] = s;
  const int m = cg::reduce(t32, in[i], cg::greater<int>());
  if (t32.thread_rank() == 0) max32[i / 32] = m;
  scan16[i] = cg::inclusive_scan(t16, in[i], cg::plus<int>());
  before16[i] = cg::exclusive_scan(t16, in[i]);
}

__global__ void parted(const int* in, int* odd_sum, int* label_size, unsigned* packed, int* count) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  const int i = threadIdx.x;
  if (in[i] & 1) {
    auto active = cg::coalesced_threads();
    const int s = cg::reduce(active, in[i], cg::plus<int>());
    if (active.thread_rank() == 0) odd_sum[i / 32] = s;
    const int slot = active.thread_rank();
    int base = 0;
    if (slot == 0) base = atomicAdd(count, active.size());
    base = active.shfl(base, 0);
    packed[base + slot] = i;
  }
  warp.sync();
  auto same = cg::labeled_partition(warp, in[i] % 5);
  label_size[i] = same.size() * 100 + same.thread_rank();
  auto two = cg::binary_partition(warp, in[i] > 50);
  label_size[i] += 10000 * two.size();
}

__global__ void whole(int* cells, int n, int rounds) {
  cg::grid_group grid = cg::this_grid();
  for (int r = 0; r < rounds; ++r) {
    for (int i = grid.thread_rank(); i < n; i += grid.size())
      cells[(r + 1) % 2 * n + i] = cells[r % 2 * n + (i + 1) % n] + 1;
    grid.sync();
  }
}

int main() {
  const int n = 256;
  std::vector<int> h = random_ints(n, 100);
  int *in = to_device(h), *s8 = to_device(std::vector<int>(n / 8)),
      *m32 = to_device(std::vector<int>(n / 32));
  int *sc = to_device(h), *be = to_device(h);
  tiles<<<2, 128>>>(in, s8, m32, sc, be);
  auto hs8 = from_device(s8, n / 8), hm = from_device(m32, n / 32), hsc = from_device(sc, n),
       hbe = from_device(be, n);
  bool right = true;
  for (int i = 0, sum = 0; i < n; ++i) {
    if (i % 16 == 0) sum = 0;
    right &= hbe[i] == sum;
    sum += h[i];
    right &= hsc[i] == sum;
  }
  for (int i = 0; i < n; i += 8) {
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += h[i + k];
    right &= hs8[i / 8] == sum;
  }
  expect("tiles", right);
  bits("max", hm);
  int *odd = to_device(std::vector<int>(n / 32)), *label = to_device(h),
      *count = to_device(std::vector<int>(1));
  unsigned* packed = to_device(std::vector<unsigned>(n));
  parted<<<1, n>>>(in, odd, label, packed, count);
  auto ho = from_device(odd, n / 32);
  right = true;
  int odds = 0;
  for (int w = 0; w < n / 32; ++w) {
    int sum = 0;
    for (int k = 0; k < 32; ++k) sum += h[32 * w + k] & 1 ? odds++, h[32 * w + k] : 0;
    right &= ho[w] == sum;
  }
  expect("coalesced", right && from_device(count, 1)[0] == odds);
  bits("labels", from_device(label, n));
  int cells_n = 1000, rounds = 7;
  std::vector<int> two(2 * cells_n);
  for (int i = 0; i < cells_n; ++i) two[i] = i * i;
  int* cells = to_device(two);
  void* args[] = {&cells, &cells_n, &rounds};
  OK(cudaLaunchCooperativeKernel((void*)whole, 4, 128, args, 0, nullptr));
  auto back = from_device(cells, 2 * cells_n);
  right = true;
  for (int i = 0; i < cells_n; ++i) right &= back[cells_n + i] == two[(i + 7) % cells_n] + 7;
  expect("grid", right);
  for (void* p : {(void*)in, (void*)s8, (void*)m32, (void*)sc, (void*)be, (void*)odd, (void*)label,
                  (void*)count, (void*)packed, (void*)cells})
    OK(cudaFree(p));
  return finish();
}
