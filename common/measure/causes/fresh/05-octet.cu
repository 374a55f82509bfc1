#include "check.h"

#define ROWS 64
#define COLS 32
#define DEEP 8
#define PER 8
#define THREADS 256

// A thread has a column of eight elements, eight rows apart.
__global__ void octet(const float* A, const float* B, float* C, int m, int k, int n) {
  __shared__ float As[DEEP][ROWS];
  __shared__ float Bs[DEEP][COLS];
  const int id = threadIdx.x;
  const int tc = id % COLS, tr = id / COLS;
  const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLS;
  float acc[PER];
#pragma unroll
  for (int p = 0; p < PER; p++) acc[p] = 0.f;
  for (int k0 = 0; k0 < k; k0 += DEEP) {
    for (int e = id; e < ROWS * DEEP; e += THREADS) {
      const int r = e / DEEP, d = e % DEEP;
      const bool ok = row0 + r < m && k0 + d < k;
      As[d][r] = ok ? A[(row0 + r) * k + k0 + d] : 0.f;
    }
    const int bd = id / COLS;
    const bool in = k0 + bd < k && col0 + tc < n;
    Bs[bd][tc] = in ? B[(k0 + bd) * n + col0 + tc] : 0.f;
    __syncthreads();
    for (int d = 0; d < DEEP; d++) {
      const float b = Bs[d][tc];
#pragma unroll
      for (int p = 0; p < PER; p++) acc[p] += As[d][tr + p * (ROWS / PER)] * b;
    }
    __syncthreads();
  }
  for (int p = 0; p < PER; p++) {
    const int r = row0 + tr + p * (ROWS / PER), c = col0 + tc;
    if (r < m && c < n) C[r * n + c] = acc[p];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + COLS - 1) / COLS, (j + ROWS - 1) / ROWS);
  octet<<<grid, THREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
