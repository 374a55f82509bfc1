// Lab 05 as the web tutorials do it: one-dimensional block, each thread 8 rows x 4 columns of C.
#include "check.h"

const int BM = 128, BN = 64, BK = 8;
const int TM = 8, TN = 4;
const int NT = (BM / TM) * (BN / TN);

__global__ void sgemm2d(const float* A, const float* B, float* C, int M, int K, int N) {
  __shared__ float As[BK * BM];  // column of the tile after column
  __shared__ float Bs[BK * BN];

  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);
  const int cRow = blockIdx.y * BM;
  const int cCol = blockIdx.x * BN;

  const int innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK;
  const int strideA = NT / BK;
  const int innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
  const int strideB = NT / BN;

  float res[TM * TN] = {0.0f};
  float regM[TM];
  float regN[TN];

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (int off = 0; off < BM; off += strideA) {
      const int gr = cRow + innerRowA + off, gc = bkIdx + innerColA;
      float v = 0.0f;
      if (gr < M && gc < K) v = A[(size_t)gr * K + gc];
      As[innerColA * BM + innerRowA + off] = v;
    }
    for (int off = 0; off < BK; off += strideB) {
      const int gr = bkIdx + innerRowB + off, gc = cCol + innerColB;
      float v = 0.0f;
      if (gr < K && gc < N) v = B[(size_t)gr * N + gc];
      Bs[(innerRowB + off) * BN + innerColB] = v;
    }
    __syncthreads();

    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (int i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol + i * (BN / TN)];
      for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n) res[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }

  for (int m = 0; m < TM; ++m) {
    const int gr = cRow + threadRow * TM + m;
    if (gr >= M) break;
    for (int n = 0; n < TN; ++n) {
      const int gc = cCol + threadCol + n * (BN / TN);
      if (gc < N) C[(size_t)gr * N + gc] = res[m * TN + n];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 gridDim((l + BN - 1) / BN, (j + BM - 1) / BM);
  sgemm2d<<<gridDim, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
