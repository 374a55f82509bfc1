// Lab 05 after a 2D block tiling tutorial on the web, adapted to any size.
#include <cassert>
#include "check.h"

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm2DBlocktiling(int M, int N, int K, const float* A, const float* B, float* C) {
  const int cRow = blockIdx.y;
  const int cCol = blockIdx.x;
  const int numThreads = (BM / TM) * (BN / TN);

  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  // what is left of the matrices from this block's corner on
  const int rowsLeft = M - cRow * BM;
  const int colsLeft = N - cCol * BN;
  A += size_t(cRow) * BM * K;
  B += cCol * BN;
  C += size_t(cRow) * BM * N + cCol * BN;

  const int innerRowA = threadIdx.x / BK;
  const int innerColA = threadIdx.x % BK;
  const int strideA = numThreads / BK;
  const int innerRowB = threadIdx.x / BN;
  const int innerColB = threadIdx.x % BN;
  const int strideB = numThreads / BN;

  float threadResults[TM * TN] = {0.0f};
  float regM[TM] = {0.0f};
  float regN[TN] = {0.0f};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (int loadOffset = 0; loadOffset < BM; loadOffset += strideA) {
      const int r = innerRowA + loadOffset;
      As[r * BK + innerColA] = (r < rowsLeft && bkIdx + innerColA < K) ? A[size_t(r) * K + innerColA] : 0.0f;
    }
    for (int loadOffset = 0; loadOffset < BK; loadOffset += strideB) {
      const int r = innerRowB + loadOffset;
      Bs[r * BN + innerColB] = (bkIdx + r < K && innerColB < colsLeft) ? B[size_t(r) * N + innerColB] : 0.0f;
    }
    __syncthreads();
    A += BK;
    B += size_t(BK) * N;

    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (int i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol + i * (BN / TN)];
      for (int resIdxM = 0; resIdxM < TM; ++resIdxM) {
        for (int resIdxN = 0; resIdxN < TN; ++resIdxN) {
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
        }
      }
    }
    __syncthreads();
  }

  for (int resIdxM = 0; resIdxM < TM; ++resIdxM) {
    for (int resIdxN = 0; resIdxN < TN; ++resIdxN) {
      const int r = threadRow * TM + resIdxM;
      const int c = threadCol + resIdxN * (BN / TN);
      if (r < rowsLeft && c < colsLeft) C[size_t(r) * N + c] = threadResults[resIdxM * TN + resIdxN];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  constexpr int BM = 64, BN = 128, BK = 8, TM = 4, TN = 8;
  static_assert((BM / TM) * (BN / TN) == 256, "256 threads");
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  dim3 blockDim((BM * BN) / (TM * TN));
  sgemm2DBlocktiling<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(j, l, k, M, N, P);
  CHECK(cudaGetLastError());
}
