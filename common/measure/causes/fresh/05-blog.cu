// SGEMM with 2D block tiling, after the blog post that everybody reads.
#include "check.h"

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm2DBlocktiling(int M, int N, int K, const float *A, const float *B, float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;

  const uint numThreadsBlocktile = BM * BN / (TM * TN);

  // BN/TN are the number of threads to span a column
  const uint threadCol = threadIdx.x % (BN / TN);
  const uint threadRow = threadIdx.x / (BN / TN);

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const int rowsLeft = M - int(cRow * BM);
  const int colsLeft = N - int(cCol * BN);
  A += size_t(cRow) * BM * K;
  B += cCol * BN;
  C += size_t(cRow) * BM * N + cCol * BN;

  const uint innerRowA = threadIdx.x / BK;
  const uint innerColA = threadIdx.x % BK;
  const uint strideA = numThreadsBlocktile / BK;
  const uint innerRowB = threadIdx.x / BN;
  const uint innerColB = threadIdx.x % BN;
  const uint strideB = numThreadsBlocktile / BN;

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (uint off = 0; off < BM; off += strideA) {
      const int r = innerRowA + off;
      As[innerColA * BM + r] =  // transposed
          r < rowsLeft && bkIdx + int(innerColA) < K ? A[size_t(r) * K + innerColA] : 0.0f;
    }
    for (uint off = 0; off < BK; off += strideB) {
      const int r = innerRowB + off;
      Bs[r * BN + innerColB] =
          bkIdx + r < K && int(innerColB) < colsLeft ? B[size_t(r) * N + innerColB] : 0.0f;
    }
    __syncthreads();

    A += BK;
    B += size_t(BK) * N;

    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (uint resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (uint resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

  for (uint resIdxM = 0; resIdxM < TM; ++resIdxM) {
    for (uint resIdxN = 0; resIdxN < TN; ++resIdxN) {
      const int r = threadRow * TM + resIdxM, c = threadCol * TN + resIdxN;
      if (r < rowsLeft && c < colsLeft)
        C[size_t(r) * N + c] = threadResults[resIdxM * TN + resIdxN];
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  const uint BM = 64, BN = 64, BK = 8, TM = 8, TN = 8;
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  dim3 blockDim((BM * BN) / (TM * TN));
  sgemm2DBlocktiling<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(j, l, k, M, N, P);
  CHECK(cudaGetLastError());
}
