// SGEMM with 2D blocktiling, after a tutorial on the web. 64 threads, each 8x8 results.
#include <cuda_runtime.h>
#include "check.h"

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm2DBlocktiling(int M, int N, int K, const float *A, const float *B, float *C) {
  const int cRow = blockIdx.y;
  const int cCol = blockIdx.x;
  const int numThreads = (BM * BN) / (TM * TN);

  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);

  __shared__ float As[BK * BM];  // transposed
  __shared__ float Bs[BK * BN];

  // move to the beginning of this block's row and column
  A += (size_t)cRow * BM * K;
  B += cCol * BN;
  C += (size_t)cRow * BM * N + cCol * BN;
  const int rowsLeft = M - cRow * BM;
  const int colsLeft = N - cCol * BN;

  const int innerRowA = threadIdx.x / BK;
  const int innerColA = threadIdx.x % BK;
  const int strideA = numThreads / BK;
  const int innerRowB = threadIdx.x / BN;
  const int innerColB = threadIdx.x % BN;
  const int strideB = numThreads / BN;

  float threadResults[TM * TN] = {0.0f};
  float regM[TM];
  float regN[TN];

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    const int kLeft = K - bkIdx;
    for (int off = 0; off < BM; off += strideA) {
      int r = innerRowA + off;
      As[innerColA * BM + r] =
          (r < rowsLeft && innerColA < kLeft) ? A[(size_t)r * K + innerColA] : 0.0f;
    }
    for (int off = 0; off < BK; off += strideB) {
      int r = innerRowB + off;
      Bs[r * BN + innerColB] =
          (r < kLeft && innerColB < colsLeft) ? B[(size_t)r * N + innerColB] : 0.0f;
    }
    __syncthreads();

    A += BK;
    B += (size_t)BK * N;

    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (int i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (int resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (int resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

  for (int resIdxM = 0; resIdxM < TM; ++resIdxM) {
    for (int resIdxN = 0; resIdxN < TN; ++resIdxN) {
      int r = threadRow * TM + resIdxM;
      int c = threadCol * TN + resIdxN;
      if (r < rowsLeft && c < colsLeft) C[(size_t)r * N + c] = threadResults[resIdxM * TN + resIdxN];
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  const int BM = 64, BN = 64, BK = 16, TM = 8, TN = 8;
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  dim3 blockDim((BM * BN) / (TM * TN));
  sgemm2DBlocktiling<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(j, l, k, M, N, P);
  CHECK(cudaGetLastError());
}
