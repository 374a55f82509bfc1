// Lab 09 with warp tiles of 32 x 64 instead of 64 x 32.       s2210447
#include <cuda_runtime.h>

#include "check.h"
#include "copy_async.h"

#define VEC(p) (*reinterpret_cast<float4*>(p))
#define CVEC(p) (*reinterpret_cast<const float4*>(p))

enum : int {
  kBlock = 128,               // a block computes kBlock x kBlock
  kWarpH = 32, kWarpW = 64,   // a warp
  kLanesY = 4, kLanesX = 8,   // lanes in a warp tile
  kDeep = 16,
  kPadM = 4, kPadP = 16,
  kWarps = kBlock / kWarpH * (kBlock / kWarpW),
  kThreads = 32 * kWarps
};

struct Shared {
  alignas(16) float m[2][kBlock][kDeep + kPadM];
  alignas(16) float n[2][kDeep][kBlock];
  alignas(16) float p[kWarps][kLanesY][kWarpW + kPadP];
};

struct Problem {
  const float *M, *N;
  float* P;
  int j, k, l;
};

__device__ void stage4(float* dst, const float* mat, int rows, int cols, int r, int c) {
  const float* src = mat + size_t(r) * cols + c;
  if (cols & 3) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const bool in = r < rows && c + e < cols;
      copy_async<4>(dst + e, in ? src + e : mat, in);
    }
  } else {
    const bool in = r < rows && c < cols;
    copy_async<16>(dst, in ? src : mat, in);
  }
}

__device__ void stage_tiles(Shared& sh, int which, const Problem& q, int r0, int c0, int k0) {
  const int t = threadIdx.x;
  for (int n = 0; n < 2; ++n) {  // M: 128 rows of 4 float4, 64 rows each time
    const int r = t / 4 + 64 * n, c = t % 4 * 4;
    stage4(&sh.m[which][r][c], q.M, q.j, q.k, r0 + r, k0 + c);
  }
  for (int n = 0; n < 2; ++n) {  // N: 16 rows of 32 float4, 8 rows each time
    const int r = t / 32 + 8 * n, c = t % 32 * 4;
    stage4(&sh.n[which][r][c], q.N, q.k, q.l, k0 + r, c0 + c);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(kThreads, 2) warp_wide(const Problem q) {
  __shared__ Shared sh;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int r0 = blockIdx.y * kBlock, c0 = blockIdx.x * kBlock;
  const int wr = (warp >> 1) * kWarpH;  // 4 x 2 warps
  const int wc = (warp & 1) * kWarpW;
  // bits of the lane: 4 3 2 1 0
  //                   y x x y x
  const int lx = (lane & 1) | ((lane >> 1) & 6);
  const int ly = ((lane >> 1) & 1) | ((lane >> 3) & 2);

  float acc[8][8] = {};
  int now = 0;
  stage_tiles(sh, now, q, r0, c0, 0);
  for (int k0 = 0; k0 < q.k; k0 += kDeep) {
    __pipeline_wait_prior(0);
    __syncthreads();
    const int next = k0 + kDeep;
    if (next < q.k) stage_tiles(sh, now ^ 1, q, r0, c0, next);

#pragma unroll
    for (int i = 0; i < kDeep; i += 4) {
      float4 a[8];
#pragma unroll
      for (int r = 0; r < 8; ++r) a[r] = CVEC(&sh.m[now][wr + ly + kLanesY * r][i]);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float4 b0 = CVEC(&sh.n[now][i + s][wc + 4 * lx]);
        const float4 b1 = CVEC(&sh.n[now][i + s][wc + 4 * lx + 32]);
        const float b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
        for (int r = 0; r < 8; ++r) {
          const float av = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
#pragma unroll
          for (int c = 0; c < 8; ++c) acc[r][c] += av * b[c];
        }
      }
    }
    now ^= 1;
  }

  // Four rows at a time go out by way of shared memory.
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    float* mine = sh.p[warp][ly];
    VEC(mine + 4 * lx) = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    VEC(mine + 4 * lx + 32) = make_float4(acc[r][4], acc[r][5], acc[r][6], acc[r][7]);
    __syncwarp();
    for (int s = 0; s < kLanesY; ++s) {
      const int row = r0 + wr + kLanesY * r + s;
      for (int c = lane; c < kWarpW; c += 32) {
        const int col = c0 + wc + c;
        if (row < q.j && col < q.l) q.P[size_t(row) * q.l + col] = sh.p[warp][s][c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Problem q{M, N, P, j, k, l};
  const dim3 grid((l + kBlock - 1) / kBlock, (j + kBlock - 1) / kBlock);
  warp_wide<<<grid, kThreads>>>(q);
  CHECK(cudaGetLastError());
}
