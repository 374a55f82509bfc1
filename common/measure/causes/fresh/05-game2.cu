// 4x4 patches like transform matrices; one flat block of 256 threads.
#include <cstdint>
#include "check.h"

using u32 = std::uint32_t;

struct Patch {
  float e[4][4];
};

static constexpr u32 EDGE = 64;   // block tile
static constexpr u32 DEPTH = 16;  // slice
static constexpr u32 THREADS = 256;

__device__ __forceinline__ void outer(Patch& p, const float (&a)[4], const float (&b)[4]) {
#pragma unroll
  for (u32 y = 0; y < 4; ++y)
#pragma unroll
    for (u32 x = 0; x < 4; ++x) p.e[y][x] += a[y] * b[x];
}

__global__ void patchKernel(const float* M, const float* N, float* P, u32 j, u32 k, u32 l) {
  __shared__ float sm[DEPTH][EDGE];
  __shared__ float sn[DEPTH][EDGE];

  const u32 tid = threadIdx.x;
  const u32 px = tid & 15u;
  const u32 py = tid >> 4;
  const u32 originY = blockIdx.y * EDGE;
  const u32 originX = blockIdx.x * EDGE;

  const u32 mCol = tid & 15u, mRow = tid >> 4;  // M: 16 rows of 16 at a time
  const u32 nCol = tid & 63u, nRow = tid >> 6;  // N: 4 rows of 64 at a time

  Patch acc = {};
  for (u32 base = 0; base < k; base += DEPTH) {
#pragma unroll
    for (u32 s = 0; s < EDGE; s += 16) {
      const u32 gy = originY + mRow + s, gx = base + mCol;
      float v = 0.0f;
      if (gy < j && gx < k) v = M[size_t(gy) * k + gx];
      sm[mCol][mRow + s] = v;
    }
#pragma unroll
    for (u32 s = 0; s < DEPTH; s += 4) {
      const u32 gy = base + nRow + s, gx = originX + nCol;
      float v = 0.0f;
      if (gy < k && gx < l) v = N[size_t(gy) * l + gx];
      sn[nRow + s][nCol] = v;
    }
    __syncthreads();

#pragma unroll
    for (u32 d = 0; d < DEPTH; ++d) {
      const float a[4] = {sm[d][4 * py], sm[d][4 * py + 1], sm[d][4 * py + 2], sm[d][4 * py + 3]};
      const float b[4] = {sn[d][px], sn[d][px + 16], sn[d][px + 32], sn[d][px + 48]};
      outer(acc, a, b);
    }
    __syncthreads();
  }

#pragma unroll
  for (u32 y = 0; y < 4; ++y) {
    const u32 gy = originY + 4 * py + y;
    if (gy >= j) break;
    float* line = P + size_t(gy) * l;
#pragma unroll
    for (u32 x = 0; x < 4; ++x) {
      const u32 gx = originX + px + 16 * x;
      if (gx < l) line[gx] = acc.e[y][x];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + EDGE - 1) / EDGE, (j + EDGE - 1) / EDGE);
  patchKernel<<<grid, THREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
