#include "check.h"

constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
constexpr int NUM_THREADS = (BM * BN) / (TM * TN);

__global__ void sgemm_2d(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float As[BM][BK];
  __shared__ float Bs[BK][BN];

  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);
  const int rowA = threadIdx.x / BK, colA = threadIdx.x % BK;
  const int strideA = NUM_THREADS / BK;
  const int rowB = threadIdx.x / BN, colB = threadIdx.x % BN;
  const int strideB = NUM_THREADS / BN;

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (int bk = 0; bk < K; bk += BK) {
    for (int off = 0; off < BM; off += strideA) {
      int r = blockIdx.y * BM + rowA + off;
      int c = bk + colA;
      As[rowA + off][colA] = r < M && c < K ? A[r * K + c] : 0.0f;
    }
    for (int off = 0; off < BK; off += strideB) {
      int r = bk + rowB + off;
      int c = blockIdx.x * BN + colB;
      Bs[rowB + off][colB] = r < K && c < N ? B[r * N + c] : 0.0f;
    }
    __syncthreads();

    for (int dot = 0; dot < BK; ++dot) {
      for (int i = 0; i < TM; ++i) regM[i] = As[threadRow * TM + i][dot];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dot][threadCol * TN + i];
      for (int m = 0; m < TM; ++m) {
        for (int n = 0; n < TN; ++n) {
          threadResults[m * TN + n] += regM[m] * regN[n];
        }
      }
    }
    __syncthreads();
  }

  for (int m = 0; m < TM; ++m) {
    for (int n = 0; n < TN; ++n) {
      int r = blockIdx.y * BM + threadRow * TM + m;
      int c = blockIdx.x * BN + threadCol * TN + n;
      if (r < M && c < N) C[r * N + c] = threadResults[m * TN + n];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + BN - 1) / BN, (j + BM - 1) / BM);
  sgemm_2d<<<grid, NUM_THREADS>>>(j, l, k, M, N, P);
  CHECK(cudaGetLastError());
}
