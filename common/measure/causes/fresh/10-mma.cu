#include "check.h"
#include "tensor.h"

#define BM 64
#define BN 64
#define BK 32
#define SKEW 8

__global__ void gemm_mma(const float* A, const float* B, float* C, int m, int k, int n) {
  __shared__ __align__(16) __nv_bfloat16 sA[BM][BK + SKEW];
  __shared__ __align__(16) __nv_bfloat16 sB[BK][BN + SKEW];

  int tid = threadIdx.x;
  int lane = tid & 31;
  int warp = tid >> 5;
  int wr = (warp >> 1) * 32;
  int wc = (warp & 1) * 32;

  float acc[2][4][4] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int e = tid; e < BM * BK; e += 128) {
      int r = e / BK, c = e % BK;
      int gr = blockIdx.y * BM + r, gc = k0 + c;
      sA[r][c] = __float2bfloat16(gr < m && gc < k ? A[(size_t)gr * k + gc] : 0.f);
    }
    for (int e = tid; e < BK * BN; e += 128) {
      int r = e / BN, c = e % BN;
      int gr = k0 + r, gc = blockIdx.x * BN + c;
      sB[r][c] = __float2bfloat16(gr < k && gc < n ? B[(size_t)gr * n + gc] : 0.f);
    }
    __syncthreads();

    for (int kk = 0; kk < BK; kk += 16) {
      uint32_t a[2][4], b[2][4];
      for (int i = 0; i < 2; i++)
        load_matrices(a[i], &sA[wr + i * 16 + lane % 16][kk + lane / 16 * 8]);
      for (int i = 0; i < 2; i++)
        load_matrices_transposed(b[i], &sB[kk + lane % 16][wc + i * 16 + lane / 16 * 8]);
      for (int i = 0; i < 2; i++)
        for (int t = 0; t < 4; t++) multiply_add(acc[i][t], a[i], &b[t / 2][t % 2 * 2]);
    }
    __syncthreads();
  }

  int g = lane >> 2, q = lane & 3;
  for (int i = 0; i < 2; i++) {
    for (int t = 0; t < 4; t++) {
      for (int e = 0; e < 4; e++) {
        int row = blockIdx.y * BM + wr + i * 16 + g + e / 2 * 8;
        int col = blockIdx.x * BN + wc + t * 8 + q * 2 + e % 2;
        if (row < m && col < n) C[(size_t)row * n + col] = acc[i][t][e];
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + BN - 1) / BN, (j + BM - 1) / BM);
  gemm_mma<<<grid, 128>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
