// One-dimensional blocks; loads are split into (row of the tile, lane) once, before the loop.
#include "check.h"

enum { TILE = 64, DEPTH = 16, R = 4, SIDE = TILE / R, NT = SIDE * SIDE };

__device__ inline float peek(const float* a, int h, int w, int y, int x) {
  if (y >= h || x >= w) return 0.0f;
  return a[(size_t)y * w + x];
}

__global__ void gemm(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float mt[DEPTH][TILE];
  __shared__ float nt[DEPTH][TILE];

  const int t = threadIdx.x;
  const int px = t % SIDE, py = t / SIDE;
  const int top = blockIdx.y * TILE, lft = blockIdx.x * TILE;

  // where this thread copies from and to
  const int mi = t % DEPTH, mr = t / DEPTH;
  const int nc = t % TILE, ni = t / TILE;

  float acc[R * R];
#pragma unroll
  for (int q = 0; q < R * R; ++q) acc[q] = 0.0f;

  for (int base = 0; base < k; base += DEPTH) {
    for (int r = mr; r < TILE; r += NT / DEPTH) {
      mt[mi][r] = peek(M, j, k, top + r, base + mi);
    }
    for (int i = ni; i < DEPTH; i += NT / TILE) {
      nt[i][nc] = peek(N, k, l, base + i, lft + nc);
    }
    __syncthreads();

    for (int i = 0; i < DEPTH; ++i) {
      float a[R], b[R];
#pragma unroll
      for (int q = 0; q < R; ++q) {
        a[q] = mt[i][py * R + q];
        b[q] = nt[i][px + q * SIDE];
      }
#pragma unroll
      for (int q = 0; q < R * R; ++q) acc[q] += a[q / R] * b[q % R];
    }
    __syncthreads();
  }

#pragma unroll
  for (int q = 0; q < R * R; ++q) {
    const int y = top + py * R + q / R;
    const int x = lft + px + q % R * SIDE;
    if (y < j && x < l) P[(size_t)y * l + x] = acc[q];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 g((l - 1) / TILE + 1, (j - 1) / TILE + 1);
  gemm<<<g, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
