// SGEMM kernel 5: 2D blocktiling (after a blog post), with edges handled
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#define cudaCheck(err) (cudaCheckImpl(err, __FILE__, __LINE__))

static void cudaCheckImpl(cudaError_t error, const char *file, int line) {
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
}

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN))
    sgemm2DBlocktiling(int M, int N, int K, const float *A, const float *B, float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;
  const uint numThreads = (BM * BN) / (TM * TN);

  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);

  __shared__ float As[BK * BM];
  __shared__ float Bs[BK * BN];

  A += (size_t)cRow * BM * K;
  B += cCol * BN;
  C += (size_t)cRow * BM * N + cCol * BN;
  const int rowsLeft = M - cRow * BM;
  const int colsLeft = N - cCol * BN;

  const uint innerRowA = threadIdx.x / BK;
  const uint innerColA = threadIdx.x % BK;
  const uint strideA = numThreads / BK;
  const uint innerRowB = threadIdx.x / BN;
  const uint innerColB = threadIdx.x % BN;
  const uint strideB = numThreads / BN;

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    const int depthLeft = K - bkIdx;
    for (uint loadOffset = 0; loadOffset < BM; loadOffset += strideA) {
      const int r = innerRowA + loadOffset, c = innerColA;
      As[c * BM + r] = (r < rowsLeft && c < depthLeft) ? A[(size_t)r * K + c] : 0.0f;
    }
    for (uint loadOffset = 0; loadOffset < BK; loadOffset += strideB) {
      const int r = innerRowB + loadOffset, c = innerColB;
      Bs[r * BN + c] = (r < depthLeft && c < colsLeft) ? B[(size_t)r * N + c] : 0.0f;
    }
    __syncthreads();

    A += BK;
    B += (size_t)BK * N;

    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol + i * (BN / TN)];
      for (uint resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (uint resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

  for (uint resIdxM = 0; resIdxM < TM; ++resIdxM) {
    for (uint resIdxN = 0; resIdxN < TN; ++resIdxN) {
      const int r = threadRow * TM + resIdxM;
      const int c = threadCol + resIdxN * (BN / TN);
      if (r < rowsLeft && c < colsLeft) C[(size_t)r * N + c] = threadResults[resIdxM * TN + resIdxN];
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  const uint BM = 64, BN = 128, BK = 16, TM = 4, TN = 8;
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  dim3 blockDim((BM * BN) / (TM * TN));
  sgemm2DBlocktiling<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(j, l, k, M, N, P);
  cudaCheck(cudaGetLastError());
}
