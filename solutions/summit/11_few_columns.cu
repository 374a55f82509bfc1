// Rung 11, few columns: up to 8 columns of N. Rung 10 turned: M is read once, as fast as memory
// gives it.
//
// The lanes of a warp read a row of M along k, so here they share k. A warp holds four rows, so
// that a value of N in shared memory is used four times; eight pairs of warps hold the block's 32
// rows, and the warps of a pair take turns along k. A block has N for its share of k in shared
// memory, all k if that fits and there are rows enough; else the shares' sums are added up as in
// rung 10.
#include <algorithm>

#include "common/operands.h"
#include "common/ptx.cuh"
#include "common/summit.h"
#include "thin.h"

namespace summit {
namespace {

constexpr int PAIRS = 8, WARPS = 2 * PAIRS, THREADS = WARPS * 32;
constexpr int ROWS = 4;              // of a warp
constexpr int STRIP = PAIRS * ROWS;  // rows of a block
constexpr int STEPS = 128;           // of k, that a warp takes at a time
constexpr int DEPTH = 2;             // of them on their way, while it works on as many

// From one column of N in shared memory to the next. Not a multiple of 32 words: N is read row by
// row, and the columns of a row should meet different banks.
__host__ __device__ constexpr int pitch(int share, int columns) {
  return share + (columns > 1 ? 32 / columns : 0);
}
constexpr int most_steps(int columns) {
  return std::min(8192, 32768 / columns);
}

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

// v[0..COUNT) of each lane, added up over the lanes: lane i ends with sum i * COUNT / 32 in v[0].
// In each turn two lanes exchange halves of what they have left.
template <int COUNT>
__device__ __forceinline__ void add_lanes(float (&v)[COUNT]) {
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 16, left = COUNT; distance > 0; distance /= 2) {
    if (left == 1) {
      v[0] += __shfl_xor_sync(~0u, v[0], distance);
      continue;
    }
    left /= 2;
    bool upper = lane & distance;
#pragma unroll
    for (int i = 0; i < COUNT / 2; ++i) {
      if (i >= left) continue;
      float keep = upper ? v[i + left] : v[i], give = upper ? v[i] : v[i + left];
      v[i] = keep + __shfl_xor_sync(~0u, give, distance);
    }
  }
}

// Grid: x strips of rows, y shares of k: `share` steps, a multiple of STEPS. COLUMNS >= l.
template <int COLUMNS, bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 1)
    few_columns(Problem p, int share, float* __restrict__ scratch, unsigned* __restrict__ ready) {
  constexpr int kOfWarp = ROWS * COLUMNS, kSums = STRIP * COLUMNS;
  extern __shared__ float4 memory[];
  float* n = reinterpret_cast<float*>(memory);  // [COLUMNS][pitch]
  __shared__ float of_warps[WARPS][kOfWarp];
  __shared__ unsigned arrived;
  const int row_pitch = pitch(share, COLUMNS);
  start_next_kernel();
  wait_for_kernels_before();
  int strip = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32, turn = warp % 2;
  int k0 = blockIdx.y * share, steps = min(share, p.k - k0);
  int row = strip * STRIP + warp / 2 * ROWS;
  float4 now[DEPTH][ROWS], next[DEPTH][ROWS];
  auto load = [&](float4(&m)[DEPTH][ROWS], int first) {
#pragma unroll
    for (int d = 0; d < DEPTH; ++d)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        int i = first + d * 2 * STEPS;
        m[d][r] = i < steps
                      ? load_steps<ALIGNED>(p.M + size_t(min(row + r, p.j - 1)) * p.k, k0 + i, p.k)
                      : make_float4(0, 0, 0, 0);
      }
  };
  load(now, turn * STEPS + lane * 4);  // under way while N's values are fetched
  const float* from = p.N + size_t(k0) * p.l;
  int count = steps * p.l;
  auto put = [&](int e, float value) {
    int i = e / p.l;
    n[(e - i * p.l) * row_pitch + i] = value;
  };
  int done = 0;
  if (reinterpret_cast<uintptr_t>(from) % 16 == 0) {
    done = count / 4 * 4;
#pragma unroll 4
    for (int e = threadIdx.x * 4; e < done; e += THREADS * 4) {
      float4 v = __ldg(reinterpret_cast<const float4*>(from + e));
      put(e, v.x), put(e + 1, v.y), put(e + 2, v.z), put(e + 3, v.w);
    }
  }
#pragma unroll 4
  for (int e = done + threadIdx.x; e < count; e += THREADS) put(e, __ldg(from + e));
  // Zeros behind the last step and the last column.
  for (int c = 0; c < COLUMNS; ++c)
    for (int i = (c < p.l ? steps : 0) + threadIdx.x; i < share; i += THREADS)
      n[c * row_pitch + i] = 0;
  __syncthreads();
  float sum[kOfWarp] = {};
#pragma unroll 1
  for (int first = turn * STEPS; first < steps; first += DEPTH * 2 * STEPS) {
    load(next, first + DEPTH * 2 * STEPS + lane * 4);
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      int i = first + d * 2 * STEPS + lane * 4;
      if (first + d * 2 * STEPS >= steps) break;
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        float4 v = *reinterpret_cast<const float4*>(n + c * row_pitch + i);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          float& s = sum[r * COLUMNS + c];
          const float4& m = now[d][r];
          s = fmaf(m.w, v.w, fmaf(m.z, v.z, fmaf(m.y, v.y, fmaf(m.x, v.x, s))));
        }
      }
    }
#pragma unroll
    for (int d = 0; d < DEPTH; ++d)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) now[d][r] = next[d][r];
  }
  add_lanes(sum);
  if (lane % (32 / kOfWarp) == 0) of_warps[warp][lane / (32 / kOfWarp)] = sum[0];
  __syncthreads();
  // The block's sums: row by row, of each pair of warps.
  auto of_block = [&](int e) {
    int pair = e / kOfWarp;
    return of_warps[2 * pair][e % kOfWarp] + of_warps[2 * pair + 1][e % kOfWarp];
  };
  auto store = [&](int e, float value) {
    int at = strip * STRIP + e / COLUMNS, c = e % COLUMNS;
    if (at < p.j && c < p.l) p.P[size_t(at) * p.l + c] = value;
  };
  int shares = gridDim.y;
  if (shares == 1) {
    for (int e = threadIdx.x; e < kSums; e += THREADS) store(e, of_block(e));
    return;
  }
  float* parts = scratch + size_t(strip) * shares * kSums;
  for (int e = threadIdx.x; e < kSums; e += THREADS)
    __stcg(parts + size_t(blockIdx.y) * kSums + e, of_block(e));
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
    store(e, all);
  }
}

template <int COLUMNS>
void launch(const Problem& p, int shares, cudaStream_t stream) {
  static ThinScratch scratch;
  constexpr int kMost = most_steps(COLUMNS);
  int share = ceil_div(ceil_div(p.k, std::max(shares, 1)), STEPS) * STEPS;
  share = std::min(share, kMost);
  int strips = ceil_div(p.j, STRIP);
  shares = ceil_div(p.k, share);
  float* parts = shares > 1 ? scratch.parts(size_t(strips) * shares * STRIP * COLUMNS) : nullptr;
  unsigned* ready = shares > 1 ? scratch.counters(strips) : nullptr;
  auto run = [&](auto kernel, bool& allowed) {
    if (!allowed) allow_shared(kernel, COLUMNS * pitch(kMost, COLUMNS) * 4);
    allowed = true;
    launch_early(kernel, {dim3(strips, shares), THREADS, COLUMNS * pitch(share, COLUMNS) * 4},
                 stream, p, share, parts, ready);
  };
  static bool allowed[2];
  if (rows_are_aligned(p.M, p.k))
    run(few_columns<COLUMNS, true>, allowed[1]);
  else
    run(few_columns<COLUMNS, false>, allowed[0]);
}

}  // namespace

void launch_few_columns(const Problem& p, int shares, cudaStream_t stream) {
  if (p.l <= 1) return launch<1>(p, shares, stream);
  if (p.l <= 2) return launch<2>(p, shares, stream);
  if (p.l <= 4) return launch<4>(p, shares, stream);
  launch<8>(p, shares, stream);
}

}  // namespace summit
