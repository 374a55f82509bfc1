#include "check.h"

#define BM 64
#define BN 64
#define BK 16
#define PAD 1

__global__ void gemm_padded(const float* A, const float* B, float* C, int m, int k, int n) {
  // A tile is kept column by column, so that reading is contiguous
  __shared__ float At[BK][BM + PAD];
  __shared__ float Bt[BK][BN];

  int tid = threadIdx.y * blockDim.x + threadIdx.x;
  int rowBase = blockIdx.y * BM, colBase = blockIdx.x * BN;
  float c[4][4];
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) c[a][b] = 0;

  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int idx = tid; idx < BM * BK; idx += 256) {
      int r = idx / BK, kk = idx % BK;
      float value = 0;
      if (rowBase + r < m && k0 + kk < k) value = A[(rowBase + r) * k + k0 + kk];
      At[kk][r] = value;
    }
    for (int idx = tid; idx < BK * BN; idx += 256) {
      int kk = idx / BN, col = idx % BN;
      float value = 0;
      if (k0 + kk < k && colBase + col < n) value = B[(k0 + kk) * n + colBase + col];
      Bt[kk][col] = value;
    }
    __syncthreads();

    for (int kk = 0; kk < BK; kk++) {
      float a[4], b[4];
      for (int q = 0; q < 4; q++) a[q] = At[kk][threadIdx.y + q * 16];
      for (int q = 0; q < 4; q++) b[q] = Bt[kk][threadIdx.x + q * 16];
      for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) c[p][q] += a[p] * b[q];
    }
    __syncthreads();
  }

  for (int p = 0; p < 4; p++) {
    int row = rowBase + threadIdx.y + p * 16;
    if (row >= m) continue;
    for (int q = 0; q < 4; q++) {
      int col = colBase + threadIdx.x + q * 16;
      if (col >= n) break;
      C[row * n + col] = c[p][q];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 threads(16, 16);
  dim3 blocks((l + BN - 1) / BN, (j + BM - 1) / BM);
  gemm_padded<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
