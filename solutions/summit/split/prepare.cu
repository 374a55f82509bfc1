// Steps 1 and 2: how far the elements of each row of M and column of N reach, and the cut into
// pieces. Both read M and N once; together they take the time of moving 22 bytes for each of their
// elements.
#include <cuda_bf16.h>

#include <algorithm>

#include "split.h"

namespace summit::split {
namespace {

constexpr int THREADS = 256;
constexpr int SEGMENT = 1024;  // elements of a row of M that a warp looks at
constexpr int HEIGHT = 256;    // elements of a column of N that a block looks at

__device__ void note(Extent& e, float x) {
  uint32_t bits = __float_as_uint(x) & 0x7fffffff;
  e.largest = max(e.largest, bits);
  if (bits) e.inverted_smallest = max(e.inverted_smallest, ~bits);
}
__device__ void join(Extent* all, Extent e) {
  atomicMax(&all->largest, e.largest);
  atomicMax(&all->inverted_smallest, e.inverted_smallest);
}

__global__ void __launch_bounds__(THREADS)
    measure_rows(const float* __restrict__ M, int j, int k, Extent* extents) {
  int row = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= j) return;
  Extent e = {};
  int end = min(k, int(blockIdx.y + 1) * SEGMENT);
#pragma unroll 8
  for (int i = blockIdx.y * SEGMENT + lane; i < end; i += 32) note(e, M[size_t(row) * k + i]);
  e.largest = __reduce_max_sync(~0u, e.largest);
  e.inverted_smallest = __reduce_max_sync(~0u, e.inverted_smallest);
  if (lane == 0) join(extents + row, e);
}

// A block: 32 columns, each warp every eighth row of HEIGHT.
__global__ void __launch_bounds__(THREADS)
    measure_columns(const float* __restrict__ N, int k, int l, Extent* extents) {
  __shared__ Extent of_warp[THREADS / 32][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, col = blockIdx.x * 32 + lane;
  Extent e = {};
  int end = min(k, int(blockIdx.y + 1) * HEIGHT);
  if (col < l)
#pragma unroll 8
    for (int i = blockIdx.y * HEIGHT + warp; i < end; i += THREADS / 32)
      note(e, N[size_t(i) * l + col]);
  of_warp[warp][lane] = e;
  __syncthreads();
  if (warp > 0 || col >= l) return;
  for (int w = 1; w < THREADS / 32; ++w) {
    e.largest = max(e.largest, of_warp[w][lane].largest);
    e.inverted_smallest = max(e.inverted_smallest, of_warp[w][lane].inverted_smallest);
  }
  join(extents + col, e);
}

// x * 2^s. Two factors, because s goes beyond what one float32 can be; both products are exact for
// elements that are not hard.
struct Scaling {
  float first, second;
  __device__ explicit Scaling(Extent e) {
    int s = scale(e), half = s / 2;
    first = __int_as_float((half + 127) << 23);
    second = __int_as_float((s - half + 127) << 23);
  }
  __device__ float operator()(float x) const { return x * first * second; }
};

// Cuts eight steps of one row or column and stores each piece's 16 bytes.
__device__ void store_pieces(const float (&x)[8], unsigned char* to, int piece_bytes) {
  uint32_t words[PIECES][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float2 rest = {x[2 * i], x[2 * i + 1]};
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
      __nv_bfloat162 piece = __float22bfloat162_rn(rest);  // to nearest
      words[p][i] = reinterpret_cast<uint32_t&>(piece);
      float2 value = __bfloat1622float2(piece);
      rest = {rest.x - value.x, rest.y - value.y};  // exact
    }
  }
#pragma unroll
  for (int p = 0; p < PIECES; ++p)
    *reinterpret_cast<uint4*>(to + p * piece_bytes) =
        make_uint4(words[p][0], words[p][1], words[p][2], words[p][3]);
}

// A block of threads cuts one chunk of one strip. Four lanes take a row's 32 steps, so that a row
// is read in 128 bytes and eight rows are written in 128 bytes for each group of steps.
template <bool ALIGNED>
__device__ void cut_m(const float* __restrict__ M, int j, int k, const Extent* extents, int strip,
                      int chunk, unsigned char* to) {
#pragma unroll
  for (int task = threadIdx.x; task < STRIP_M * 4; task += THREADS) {
    int r = task / 4, group = task % 4, row = strip * STRIP_M + r, i0 = chunk * CHUNK + group * 8;
    float x[8] = {};
    if (row < j) {
      const float* from = M + size_t(row) * k + i0;
      if (ALIGNED && i0 + 8 <= k) {
        reinterpret_cast<float4&>(x[0]) = __ldcs(reinterpret_cast<const float4*>(from));
        reinterpret_cast<float4&>(x[4]) = __ldcs(reinterpret_cast<const float4*>(from) + 1);
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i)
          if (i0 + i < k) x[i] = from[i];
      }
      Scaling scaled(extents[row]);
#pragma unroll
      for (float& v : x) v = scaled(v);
    }
    store_pieces(x, to + (group * STRIP_M + r) * 16, PIECE_M);
  }
}

// Neighbouring lanes take neighbouring columns.
__device__ void cut_n(const float* __restrict__ N, int k, int l, const Extent* extents, int strip,
                      int chunk, unsigned char* to) {
  int col = strip * STRIP_N + threadIdx.x;
  Scaling scaled(col < l ? extents[col] : Extent{});
#pragma unroll
  for (int group = 0; group < 4; ++group) {
    float x[8] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      int row = chunk * CHUNK + group * 8 + i;
      if (row < k && col < l) x[i] = scaled(__ldcs(N + size_t(row) * l + col));
    }
    store_pieces(x, to + (group * STRIP_N + threadIdx.x) * 16, PIECE_N);
  }
}
static_assert(THREADS == STRIP_N);

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
    cut_both(Problem p, Layout layout, const Extent* extents, unsigned char* m, unsigned char* n) {
  int chunk = blockIdx.x, strip = blockIdx.y;
  if (strip < layout.strips_m)
    cut_m<ALIGNED>(p.M, p.j, p.k, extents, strip, chunk,
                   m + (size_t(strip) * layout.chunks + chunk) * BLOCK_M);
  else
    cut_n(p.N, p.k, p.l, extents + p.j, strip - layout.strips_m, chunk,
          n + (size_t(strip - layout.strips_m) * layout.chunks + chunk) * BLOCK_N);
}

}  // namespace

void measure(const Problem& p, Extent* extents, cudaStream_t stream) {
  check(cudaMemsetAsync(extents, 0, (size_t(p.j) + p.l) * sizeof(Extent), stream), "extents");
  measure_rows<<<dim3(ceil_div(p.j, THREADS / 32), ceil_div(p.k, SEGMENT)), THREADS, 0, stream>>>(
      p.M, p.j, p.k, extents);
  measure_columns<<<dim3(ceil_div(p.l, 32), ceil_div(p.k, HEIGHT)), THREADS, 0, stream>>>(
      p.N, p.k, p.l, extents + p.j);
  check(cudaGetLastError(), "extents");
}

void cut(const Problem& p, const Extent* extents, unsigned char* m, unsigned char* n,
         cudaStream_t stream) {
  Layout layout(p.j, p.k, p.l);
  auto kernel = rows_are_aligned(p.M, p.k) ? cut_both<true> : cut_both<false>;
  kernel<<<dim3(layout.chunks, layout.strips_m + layout.strips_n), THREADS, 0, stream>>>(
      p, layout, extents, m, n);
  check(cudaGetLastError(), "cut into pieces");
}

}  // namespace summit::split
