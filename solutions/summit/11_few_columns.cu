// Rung 11, few columns: up to 8 columns of N. Rung 10 turned: M is read once, as fast as memory
// gives it.
//
// The lanes of a warp read a row of M along k, so here they share k, and a warp's sums are added up
// by shuffles. A warp holds four rows, so that a value of N in shared memory is used four times.
#include "common/ptx.cuh"
#include "common/summit.h"
#include "thin.h"

namespace summit {
namespace {

constexpr int WARPS = 8, THREADS = WARPS * 32;
constexpr int ROWS = 4;              // of a warp
constexpr int STRIP = WARPS * ROWS;  // rows of a block
constexpr int SHARE = 1024;          // steps of k in a block

template <bool ALIGNED>
__device__ __forceinline__ float4 load_steps(const float* row, int i, int k) {
  if constexpr (ALIGNED) {
    return i < k ? __ldg(reinterpret_cast<const float4*>(row + i)) : make_float4(0, 0, 0, 0);
  } else {
    float v[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) v[c] = i + c < k ? __ldg(row + i + c) : 0.0f;
    return make_float4(v[0], v[1], v[2], v[3]);
  }
}

// Grid: x strips of rows, y shares of k. COLUMNS >= l.
template <int COLUMNS, bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
    few_columns(Problem p, int shares, float* __restrict__ scratch, unsigned* __restrict__ ready) {
  constexpr int kSums = STRIP * COLUMNS;
  __shared__ float n[COLUMNS][SHARE];
  __shared__ unsigned arrived;
  start_next_kernel();
  wait_for_kernels_before();
  int strip = blockIdx.x, share = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int k0 = share * SHARE, steps = min(SHARE, p.k - k0), row = strip * STRIP + warp * ROWS;
  for (int e = threadIdx.x; e < SHARE * COLUMNS; e += THREADS) {
    int i = e / COLUMNS, c = e % COLUMNS;
    n[c][i] = c < p.l && i < steps ? __ldg(p.N + size_t(k0 + i) * p.l + c) : 0.0f;
  }
  __syncthreads();
  float sum[ROWS][COLUMNS] = {};
#pragma unroll 4
  for (int i = lane * 4; i < steps; i += 128) {
    float4 m[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
      m[r] = load_steps<ALIGNED>(p.M + size_t(min(row + r, p.j - 1)) * p.k, k0 + i, p.k);
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      float4 v = *reinterpret_cast<const float4*>(&n[c][i]);
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
        sum[r][c] =
            fmaf(m[r].w, v.w, fmaf(m[r].z, v.z, fmaf(m[r].y, v.y, fmaf(m[r].x, v.x, sum[r][c]))));
    }
  }
  float* parts = scratch + size_t(strip) * shares * kSums;
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      float all = sum[r][c];
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2)
        all += __shfl_xor_sync(~0u, all, distance);
      if (lane != (r * COLUMNS + c) % 32) continue;
      if (shares > 1)
        __stcg(parts + size_t(share) * kSums + (warp * ROWS + r) * COLUMNS + c, all);
      else if (row + r < p.j && c < p.l)
        p.P[size_t(row + r) * p.l + c] = all;
    }
  if (shares == 1) return;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) arrived = atomicAdd(ready + strip, 1u);
  __syncthreads();
  if (arrived != unsigned(shares - 1)) return;  // a later block will find all parts there
  __threadfence();
  if (threadIdx.x == 0) ready[strip] = 0;
  for (int e = threadIdx.x; e < kSums; e += THREADS) {
    float all = 0;
#pragma unroll 8
    for (int s = 0; s < shares; ++s) all += __ldcg(parts + size_t(s) * kSums + e);
    int at = strip * STRIP + e / COLUMNS, c = e % COLUMNS;
    if (at < p.j && c < p.l) p.P[size_t(at) * p.l + c] = all;
  }
}

template <int COLUMNS>
void launch(const Problem& p, cudaStream_t stream) {
  static ThinScratch scratch;
  int strips = ceil_div(p.j, STRIP), shares = ceil_div(p.k, SHARE);
  float* parts = scratch.parts(size_t(strips) * shares * STRIP * COLUMNS);
  unsigned* ready = scratch.counters(strips);
  auto kernel =
      rows_are_aligned(p.M, p.k) ? few_columns<COLUMNS, true> : few_columns<COLUMNS, false>;
  launch_early(kernel, dim3(strips, shares), THREADS, stream, p, shares, parts, ready);
}

}  // namespace

void launch_few_columns(const Problem& p, cudaStream_t stream) {
  if (p.l <= 1) return launch<1>(p, stream);
  if (p.l <= 2) return launch<2>(p, stream);
  if (p.l <= 4) return launch<4>(p, stream);
  launch<8>(p, stream);
}

}  // namespace summit
