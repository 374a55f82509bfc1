// no transposition, no padding: the rows of a thread lie 16 apart
#include "check.h"

constexpr int TILE = 64, K = 16, SIDE = 16, EACH = 4;
constexpr int GROUP = SIDE * SIDE;

__device__ float safe(const float* base, int nrow, int ncol, int r, int c) {
  if (r >= nrow || c >= ncol) return 0.0f;
  return base[size_t(r) * ncol + c];
}

__global__ void interleaved(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float left[TILE][K];
  __shared__ float right[K][TILE];
  const int me = threadIdx.x;
  const int x = me % SIDE;
  const int y = me / SIDE;
  const int row0 = TILE * blockIdx.y;
  const int col0 = TILE * blockIdx.x;

  float c[EACH][EACH];
  for (auto& line : c)
    for (float& v : line) v = 0.0f;

  for (int k0 = 0; k0 < k; k0 += K) {
    for (int p = 0; p < EACH; p++) {
      const int r = y + p * SIDE;
      left[r][x] = safe(M, j, k, row0 + r, k0 + x);
    }
    for (int p = 0; p < EACH; p++) {
      const int e = me + p * GROUP;
      right[e / TILE][e % TILE] = safe(N, k, l, k0 + e / TILE, col0 + e % TILE);
    }
    __syncthreads();

#pragma unroll
    for (int s = 0; s < K; s++) {
      float b[EACH];
      for (int q = 0; q < EACH; q++) b[q] = right[s][x + q * SIDE];
      for (int p = 0; p < EACH; p++) {
        const float a = left[y + p * SIDE][s];
        for (int q = 0; q < EACH; q++) c[p][q] += a * b[q];
      }
    }
    __syncthreads();
  }

  for (int p = 0; p < EACH; p++) {
    for (int q = 0; q < EACH; q++) {
      const int r = row0 + y + p * SIDE;
      const int s = col0 + x + q * SIDE;
      if (r < j && s < l) P[size_t(r) * l + s] = c[p][q];
    }
  }
}

inline int cover(int n) {
  return (n + TILE - 1) / TILE;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid(cover(l), cover(j));
  interleaved<<<grid, GROUP>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
