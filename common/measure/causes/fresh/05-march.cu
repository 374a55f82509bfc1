#include <cuda_runtime.h>

// Pointers march along; every name says how much of what there is per thread.
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void march(const float *A, const float *B, float *C, int M, int N, int K) {
  const unsigned cRow = blockIdx.y;
  const unsigned cCol = blockIdx.x;
  const unsigned numThreads = (BM * BN) / (TM * TN);
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const int rowsLeft = M - cRow * BM, colsLeft = N - cCol * BN;
  A += size_t(cRow) * BM * K;
  B += cCol * BN;
  C += size_t(cRow) * BM * N + cCol * BN;

  const unsigned innerRowA = threadIdx.x / BK;
  const unsigned innerColA = threadIdx.x % BK;
  const unsigned strideA = numThreads / BK;
  const unsigned innerRowB = threadIdx.x / BN;
  const unsigned innerColB = threadIdx.x % BN;
  const unsigned strideB = numThreads / BN;

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (unsigned loadOffset = 0; loadOffset < BM; loadOffset += strideA) {
      const bool there = int(innerRowA + loadOffset) < rowsLeft && int(bkIdx + innerColA) < K;
      As[(innerRowA + loadOffset) * BK + innerColA] =
          there ? A[(innerRowA + loadOffset) * K + innerColA] : 0.0f;
    }
    for (unsigned loadOffset = 0; loadOffset < BK; loadOffset += strideB) {
      const bool there = int(bkIdx + innerRowB + loadOffset) < K && int(innerColB) < colsLeft;
      Bs[(innerRowB + loadOffset) * BN + innerColB] =
          there ? B[(innerRowB + loadOffset) * N + innerColB] : 0.0f;
    }
    __syncthreads();
    A += BK;
    B += size_t(BK) * N;

    for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (unsigned i = 0; i < TM; ++i) regM[i] = As[(threadRow + i * (BM / TM)) * BK + dotIdx];
      for (unsigned i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol + i * (BN / TN)];
      for (unsigned resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (unsigned resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

  for (int resIdxM = 0; resIdxM < TM; ++resIdxM)
    for (int resIdxN = 0; resIdxN < TN; ++resIdxN) {
      const int r = threadRow + resIdxM * (BM / TM), c = threadCol + resIdxN * (BN / TN);
      if (r < rowsLeft && c < colsLeft) C[size_t(r) * N + c] = threadResults[resIdxM * TN + resIdxN];
    }
}

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  const unsigned BM = 64, BN = 64, BK = 8, TM = 8, TN = 4;
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  dim3 blockDim((BM * BN) / (TM * TN));
  march<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(M, N, P, j, l, k);
}
