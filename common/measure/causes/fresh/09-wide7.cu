// Lab 09 with warp tiles of 32 x 64 (question 1): 4 x 8 lanes, 8 x 8 results each.
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int side = 128;             // of the block tile
constexpr int depth = 16;
constexpr int warpRows = 32, warpCols = 64;
constexpr int laneRows = 4, laneCols = 8;
constexpr int res = 8;                // x res results of a thread
constexpr int threads = 256;
constexpr int acrossWarps = side / warpCols;
}  // namespace cfg

struct Mat {
  const float* p;
  int h, w;
};

struct Smem {
  float m[2][cfg::side][cfg::depth + 4];
  float n[2][cfg::depth][cfg::side];
  float out[cfg::threads / 32][cfg::laneRows][cfg::warpCols + 16];
};

__device__ __forceinline__ float4& vec(float* p) { return *reinterpret_cast<float4*>(p); }

// bit b of v
__device__ __forceinline__ int bit(int v, int b) { return (v >> b) & 1; }

__device__ void copyRow4(float* dst, const Mat& a, int r, int c) {
  const float* src = a.p + size_t(r) * a.w + c;
  if ((a.w & 3) == 0) {
    const bool ok = r < a.h && c < a.w;
    copy_async<16>(dst, ok ? src : a.p, ok);
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const bool ok = r < a.h && c + e < a.w;
    copy_async<4>(dst + e, ok ? src + e : a.p, ok);
  }
}

__device__ void startPhase(Smem& s, int stage, const Mat& M, const Mat& N, int r0, int c0, int k0) {
  const int id = threadIdx.x;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int mr = id / 4 + 64 * half, mc = 4 * (id & 3);
    copyRow4(&s.m[stage][mr][mc], M, r0 + mr, k0 + mc);
    const int nr = id / 32 + 8 * half, nc = 4 * (id & 31);
    copyRow4(&s.n[stage][nr][nc], N, k0 + nr, c0 + nc);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(cfg::threads, 2) wideWarps(Mat M, Mat N, float* P) {
  __shared__ alignas(16) Smem s;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int r0 = blockIdx.y * cfg::side, c0 = blockIdx.x * cfg::side;
  const int wr = warp / cfg::acrossWarps * cfg::warpRows;
  const int wc = warp % cfg::acrossWarps * cfg::warpCols;
  const int ly = bit(lane, 1) | bit(lane, 3) << 1;
  const int lx = bit(lane, 0) | bit(lane, 2) << 1 | bit(lane, 4) << 2;
  const int second = 4 * cfg::laneCols;  // from a thread's first four columns to its other four

  alignas(16) float acc[cfg::res][cfg::res] = {};
  int stage = 0;
  startPhase(s, stage, M, N, r0, c0, 0);
  for (int k0 = 0; k0 < M.w; k0 += cfg::depth, stage ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + cfg::depth < M.w) startPhase(s, stage ^ 1, M, N, r0, c0, k0 + cfg::depth);

    for (int i = 0; i < cfg::depth; i += 4) {
      alignas(16) float a[cfg::res][4], b[cfg::res];
      for (int r = 0; r < cfg::res; ++r) {
        vec(a[r]) = vec(&s.m[stage][wr + ly + cfg::laneRows * r][i]);
      }
      for (int d = 0; d < 4; ++d) {
        float* from = &s.n[stage][i + d][wc + 4 * lx];
        vec(b) = vec(from);
        vec(b + 4) = vec(from + second);
        for (int r = 0; r < cfg::res; ++r)
          for (int c = 0; c < cfg::res; ++c) acc[r][c] += a[r][d] * b[c];
      }
    }
  }

  for (int r = 0; r < cfg::res; ++r) {
    float* mine = &s.out[warp][ly][4 * lx];
    vec(mine) = vec(acc[r]);
    vec(mine + second) = vec(acc[r] + 4);
    __syncwarp();
    for (int e = lane; e < cfg::laneRows * cfg::warpCols; e += 32) {
      const int y = e / cfg::warpCols, x = e % cfg::warpCols;
      const int row = r0 + wr + cfg::laneRows * r + y, col = c0 + wc + x;
      if (row < M.h && col < N.w) P[size_t(row) * N.w + col] = s.out[warp][y][x];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int down = (j + cfg::side - 1) / cfg::side, across = (l + cfg::side - 1) / cfg::side;
  wideWarps<<<dim3(across, down), cfg::threads>>>(Mat{M, j, k}, Mat{N, k, l}, P);
  CHECK(cudaGetLastError());
}
