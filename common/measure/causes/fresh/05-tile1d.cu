#include "check.h"

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm_1d(int M, int N, int K, const float* A, const float* B, float* C) {
  const int cRow = blockIdx.y;
  const int cCol = blockIdx.x;
  const int threadCol = threadIdx.x % BN;
  const int threadRow = threadIdx.x / BN;

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const int innerColA = threadIdx.x % BK;
  const int innerRowA = threadIdx.x / BK;
  const int innerColB = threadIdx.x % BN;
  const int innerRowB = threadIdx.x / BN;

  float threadResults[TM] = {0.0f};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    int ar = cRow * BM + innerRowA, ac = bkIdx + innerColA;
    int br = bkIdx + innerRowB, bc = cCol * BN + innerColB;
    As[innerRowA * BK + innerColA] = (ar < M && ac < K) ? A[ar * K + ac] : 0.0f;
    Bs[innerRowB * BN + innerColB] = (br < K && bc < N) ? B[br * N + bc] : 0.0f;
    __syncthreads();

    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (int resIdx = 0; resIdx < TM; ++resIdx) {
        threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
      }
    }
    __syncthreads();
  }

  for (int resIdx = 0; resIdx < TM; ++resIdx) {
    int r = cRow * BM + threadRow * TM + resIdx;
    int c = cCol * BN + threadCol;
    if (r < M && c < N) C[r * N + c] = threadResults[resIdx];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int BM = 64, BN = 64, BK = 8, TM = 8;
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  dim3 blockDim(BM * BN / TM);
  sgemm_1d<BM, BN, BK, TM><<<gridDim, blockDim>>>(j, l, k, M, N, P);
  CHECK(cudaGetLastError());
}
