// Rung 10, few rows: up to 16 rows of M. N is read once, as fast as memory gives it; nothing else
// takes time.
//
// A tile of 64 rows would multiply mostly zeros. Here a thread holds four columns of all rows, a
// warp 128 columns, and the eight warps of a block and many blocks share k. Up to 8 rows a thread
// asks for all that it needs of N before it waits for M: memory is never without requests. Blocks
// that begin while the kernel before still runs ask the L2 cache for it at once. Each block adds up
// its warps' sums in shared memory and leaves them in scratch memory; the last block of a strip of
// columns adds up what all have left, in order of k, so the result does not depend on timing.
//
// Before a larger product it also copies N to rows that the copy engine can address: N passes
// through the registers anyway, and the few rows cost little beside.
#include <algorithm>

#include "common/ptx.cuh"
#include "common/summit.h"
#include "thin.h"

namespace summit {
namespace {

constexpr int WARPS = 8, THREADS = WARPS * 32;
constexpr int STRIP = 128;         // columns
constexpr int BLOCKS_AT_ONCE = 8;  // of a multiprocessor, by the registers of one and two rows

// Steps of k in a block. All loads of a thread are under way at once only where its sums leave it
// the registers.
template <int ROWS>
constexpr int SHARE = ROWS <= 8 ? 128 : 256;
template <int ROWS>
constexpr int LOADS = SHARE<ROWS> / WARPS;

template <bool ALIGNED>
__device__ __forceinline__ float4 load_columns(const float* row, int col, int l) {
  if constexpr (ALIGNED) {
    return col < l ? __ldg(reinterpret_cast<const float4*>(row + col)) : make_float4(0, 0, 0, 0);
  } else {
    float v[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) v[c] = col + c < l ? __ldg(row + col + c) : 0.0f;
    return make_float4(v[0], v[1], v[2], v[3]);
  }
}

// Where rows of N are copied to that do not begin at multiples of 16 bytes.
struct Longer {
  float* to;   // [k][stride]
  int stride;  // floats; zeros behind the columns
};

// Grid: x strips of columns, y shares of k. ROWS >= j.
template <int ROWS>
__device__ __forceinline__ void load_m(const Problem& p, int k0, int steps, float (*m)[ROWS]) {
  for (int e = threadIdx.x; e < SHARE<ROWS> * ROWS; e += THREADS) {
    int r = e / SHARE<ROWS>, i = e % SHARE<ROWS>;
    m[i][r] = r < p.j && i < steps ? __ldg(p.M + size_t(r) * p.k + k0 + i) : 0.0f;
  }
  __syncthreads();
}

template <int ROWS>
__device__ __forceinline__ void add_products(const float (&m)[ROWS], float4 n,
                                             float4 (&sum)[ROWS]) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float x = m[r];
    sum[r].x = fmaf(x, n.x, sum[r].x), sum[r].y = fmaf(x, n.y, sum[r].y);
    sum[r].z = fmaf(x, n.z, sum[r].z), sum[r].w = fmaf(x, n.w, sum[r].w);
  }
}

// The first `early` blocks may begin before the kernel before has ended. N may be asked for then:
// what that kernel still writes of it reaches the L2 cache, too. (Blocks that begin later would
// only ask twice.)
// COPIES: N is also written to `longer`; a thread then has every 32nd column of the strip.
template <int ROWS, bool ALIGNED, bool COPIES>
__global__ void __launch_bounds__(THREADS, COPIES ? 2 : 1)
    few_rows(Problem p, int share_steps, int shares, int early, float* __restrict__ scratch,
             unsigned* __restrict__ ready, Longer longer) {
  constexpr int kSums = ROWS * STRIP, kLoads = LOADS<ROWS>;
  __shared__ float m[SHARE<ROWS>][ROWS];
  __shared__ float4 of_warps[WARPS / 2][ROWS][32];
  __shared__ unsigned arrived;
  start_next_kernel();
  int strip = blockIdx.x, share = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int col = strip * STRIP + lane * 4, k0 = share * share_steps, steps = min(share_steps, p.k - k0);
  float4 sum[ROWS] = {};
  bool is_whole = steps == SHARE<ROWS> && (strip + 1) * STRIP <= p.l;
  if (ALIGNED && ROWS <= 8 && is_whole) {
    const float* from = p.N + size_t(k0 + warp) * p.l + col;
    size_t next = size_t(WARPS) * p.l;
    // Eight lanes read a line of 128 bytes.
    if (lane % 8 == 0 && int(blockIdx.y * gridDim.x + blockIdx.x) < early)
#pragma unroll
      for (int i = 0; i < kLoads; ++i) prefetch_l2(from + i * next);
    wait_for_kernels_before();
    float4 n[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      n[i] = __ldcs(reinterpret_cast<const float4*>(from + i * next));
    load_m(p, k0, steps, m);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) add_products(m[i * WARPS + warp], n[i], sum);
  } else if constexpr (COPIES) {
    constexpr int kAtOnce = 4;
    int first = strip * STRIP + lane;
    auto load = [&](int i, float(&n)[kAtOnce][4]) {
#pragma unroll
      for (int q = 0; q < kAtOnce; ++q)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          int row = i + q * WARPS, at = first + c * 32;
          n[q][c] = row < steps && at < p.l ? __ldg(p.N + size_t(k0 + row) * p.l + at) : 0.0f;
        }
    };
    wait_for_kernels_before();
    float n[kAtOnce][4], next[kAtOnce][4];
    load(warp, n);
    load_m(p, k0, steps, m);
    for (int i = warp; i < steps; i += WARPS * kAtOnce) {
      load(i + WARPS * kAtOnce, next);  // under way while these are multiplied
#pragma unroll
      for (int q = 0; q < kAtOnce; ++q) {
        int row = i + q * WARPS;
        if (row >= steps) break;
#pragma unroll
        for (int c = 0; c < 4; ++c)
          if (first + c * 32 < longer.stride)
            longer.to[size_t(k0 + row) * longer.stride + first + c * 32] = n[q][c];
        add_products(m[row], make_float4(n[q][0], n[q][1], n[q][2], n[q][3]), sum);
      }
#pragma unroll
      for (int q = 0; q < kAtOnce; ++q)
#pragma unroll
        for (int c = 0; c < 4; ++c) n[q][c] = next[q][c];
    }
  } else {
    wait_for_kernels_before();
    load_m(p, k0, steps, m);
#pragma unroll(ROWS <= 2 ? 16 : 8)
    for (int i = warp; i < steps; i += WARPS)
      add_products(m[i], load_columns<ALIGNED>(p.N + size_t(k0 + i) * p.l, col, p.l), sum);
  }
  // Half of the warps leave their sums and the other half adds them to its own, three times.
#pragma unroll
  for (int half = WARPS / 2; half > 0; half /= 2) {
    if (warp >= half && warp < 2 * half)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) of_warps[warp - half][r][lane] = sum[r];
    __syncthreads();
    if (warp < half)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        float4 v = of_warps[warp][r][lane];
        sum[r].x += v.x, sum[r].y += v.y, sum[r].z += v.z, sum[r].w += v.w;
      }
    __syncthreads();
  }
  if (shares == 1 && !COPIES) {
    if (warp == 0)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) store_row(p.P, r, col, p.j, p.l, &sum[r].x);
    return;
  }
  float* parts = scratch + size_t(strip) * shares * kSums;
  if (warp == 0) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
      __stcg(reinterpret_cast<float4*>(parts + size_t(share) * kSums + r * STRIP) + lane, sum[r]);
    __threadfence();
    __syncwarp();
    if (lane == 0) arrived = atomicAdd(ready + strip, 1u);
  }
  __syncthreads();
  if (arrived != unsigned(shares - 1)) return;  // a later block will find all parts there
  __threadfence();
  if (threadIdx.x == 0) ready[strip] = 0;
  // Many loads under way: what takes time is waiting, and this block is the last.
  constexpr int kMine = (kSums + THREADS - 1) / THREADS, kPartsAtOnce = kMine < 4 ? 16 / kMine : 8;
  float all[kMine] = {};
#pragma unroll kPartsAtOnce
  for (int s = 0; s < shares; ++s)
#pragma unroll
    for (int q = 0; q < kMine; ++q) {
      int e = threadIdx.x + q * THREADS;
      if (e < kSums) all[q] += __ldcg(parts + size_t(s) * kSums + e);
    }
#pragma unroll
  for (int q = 0; q < kMine; ++q) {
    int e = threadIdx.x + q * THREADS, row = e / STRIP, at = e % STRIP;
    // As the sums lie: four columns of lane 0, of lane 1, ...
    at = strip * STRIP + (COPIES ? at % 4 * 32 + at / 4 : at);
    if (row < p.j && at < p.l) p.P[size_t(row) * p.l + at] = all[q];
  }
}

template <int ROWS>
void launch(const Problem& p, cudaStream_t stream) {
  static ThinScratch scratch;
  static int early = BLOCKS_AT_ONCE * multiprocessors();
  int strips = ceil_div(p.l, STRIP), shares = ceil_div(p.k, SHARE<ROWS>);
  float* parts = scratch.parts(size_t(strips) * shares * ROWS * STRIP);
  unsigned* ready = scratch.counters(strips);
  auto kernel =
      rows_are_aligned(p.N, p.l) ? few_rows<ROWS, true, false> : few_rows<ROWS, false, false>;
  launch_early(kernel, {dim3(strips, shares), THREADS}, stream, p, SHARE<ROWS>, shares, early,
               parts, ready, Longer{});
}

template <int ROWS>
void launch_copying(const Problem& p, const Longer& longer, cudaStream_t stream) {
  static ThinScratch scratch;
  static int at_once = 2 * multiprocessors();  // blocks, by the registers of 16 rows
  int strips = ceil_div(longer.stride, STRIP);
  // Whole waves of blocks.
  int waves = ceil_div(strips * ceil_div(p.k, SHARE<ROWS>), at_once);
  int shares = std::max(1, waves * at_once / strips);
  int steps = std::min(SHARE<ROWS>, ceil_div(ceil_div(p.k, shares), WARPS) * WARPS);
  shares = ceil_div(p.k, steps);
  float* parts = scratch.parts(size_t(strips) * shares * ROWS * STRIP);
  launch_early(few_rows<ROWS, false, true>, {dim3(strips, shares), THREADS}, stream, p, steps,
               shares, 0, parts, scratch.counters(strips), longer);
}

}  // namespace

void launch_few_rows(const Problem& p, cudaStream_t stream) {
  if (p.j <= 1) return launch<1>(p, stream);
  if (p.j <= 2) return launch<2>(p, stream);
  if (p.j <= 4) return launch<4>(p, stream);
  if (p.j <= 8) return launch<8>(p, stream);
  launch<16>(p, stream);
}

void launch_few_rows_copying(const Problem& p, float* longer, int stride, cudaStream_t stream) {
  switch (rows_multiplied_copying(p.j)) {
    case 4:
      return launch_copying<4>(p, {longer, stride}, stream);
    case 12:
      return launch_copying<12>(p, {longer, stride}, stream);
    case 16:
      return launch_copying<16>(p, {longer, stride}, stream);
  }
}

}  // namespace summit
