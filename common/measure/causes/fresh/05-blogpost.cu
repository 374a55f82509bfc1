// Lab 05, after a tutorial on the web (1D thread block, threadRow/threadCol, regM/regN).
#include "check.h"

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemmBlocktiling(int M, int N, int K, const float *A, const float *B, float *C) {
  constexpr int COLS = BN / TN;                // threads per row of the block tile
  constexpr int NUM_THREADS = (BM / TM) * COLS;
  const int cRow = blockIdx.y;
  const int cCol = blockIdx.x;
  const int threadCol = threadIdx.x % COLS;
  const int threadRow = threadIdx.x / COLS;

  __shared__ float As[BK * BM];  // transposed
  __shared__ float Bs[BK * BN];

  const int innerRowA = threadIdx.x / BK;
  const int innerColA = threadIdx.x % BK;
  const int strideA = NUM_THREADS / BK;
  const int innerRowB = threadIdx.x / BN;
  const int innerColB = threadIdx.x % BN;
  const int strideB = NUM_THREADS / BN;

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (int off = 0; off < BM; off += strideA) {
      const int gr = cRow * BM + innerRowA + off;
      const int gc = bkIdx + innerColA;
      As[innerColA * BM + innerRowA + off] = (gr < M && gc < K) ? A[(size_t)gr * K + gc] : 0.0f;
    }
    for (int off = 0; off < BK; off += strideB) {
      const int gr = bkIdx + innerRowB + off;
      const int gc = cCol * BN + innerColB;
      Bs[(innerRowB + off) * BN + innerColB] = (gr < K && gc < N) ? B[(size_t)gr * N + gc] : 0.0f;
    }
    __syncthreads();

    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
#pragma unroll
      for (int i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
#pragma unroll
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol + i * COLS];
#pragma unroll
      for (int resIdxM = 0; resIdxM < TM; ++resIdxM)
#pragma unroll
        for (int resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

#pragma unroll
  for (int resIdxM = 0; resIdxM < TM; ++resIdxM) {
    const int row = cRow * BM + threadRow * TM + resIdxM;
    if (row >= M) break;
#pragma unroll
    for (int resIdxN = 0; resIdxN < TN; ++resIdxN) {
      const int col = cCol * BN + threadCol + resIdxN * COLS;
      if (col < N) C[(size_t)row * N + col] = threadResults[resIdxM * TN + resIdxN];
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  const int BM = 64, BN = 64, BK = 8, TM = 8, TN = 4;
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  dim3 blockDim((BM * BN) / (TM * TN));
  sgemmBlocktiling<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(j, l, k, M, N, P);
  CHECK(cudaGetLastError());
}
