#include "check.h"

constexpr int WARPSIZE = 32;
constexpr int BM = 64, BN = 64, BK = 16;
constexpr int WM = 32, WN = 32;
constexpr int TM = 4, TN = 8;
constexpr int NUM_THREADS = (BM / WM) * (BN / WN) * WARPSIZE;

__global__ void __launch_bounds__(NUM_THREADS)
    sgemm_warptiling(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const int warpIdx = threadIdx.x / WARPSIZE;
  const int warpCol = warpIdx % (BN / WN);
  const int warpRow = warpIdx / (BN / WN);
  const int lane = threadIdx.x % WARPSIZE;
  const int laneCol = lane % (WN / TN);
  const int laneRow = lane / (WN / TN);

  float acc[TM][TN] = {};
  float regM[TM];
  float regN[TN];

  for (int bk = 0; bk < K; bk += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += NUM_THREADS) {
      const int r = blockIdx.y * BM + i / BK;
      const int c = bk + i % BK;
      As[(i % BK) * BM + i / BK] = (r < M && c < K) ? A[(size_t)r * K + c] : 0.f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += NUM_THREADS) {
      const int r = bk + i / BN;
      const int c = blockIdx.x * BN + i % BN;
      Bs[i] = (r < K && c < N) ? B[(size_t)r * N + c] : 0.f;
    }
    __syncthreads();

    for (int dot = 0; dot < BK; ++dot) {
      for (int i = 0; i < TM; ++i) {
        regM[i] = As[dot * BM + warpRow * WM + laneRow * TM + i];
      }
      for (int i = 0; i < TN; ++i) {
        regN[i] = Bs[dot * BN + warpCol * WN + laneCol * TN + i];
      }
      for (int m = 0; m < TM; ++m) {
        for (int n = 0; n < TN; ++n) acc[m][n] += regM[m] * regN[n];
      }
    }
    __syncthreads();
  }

  const int r0 = blockIdx.y * BM + warpRow * WM + laneRow * TM;
  const int c0 = blockIdx.x * BN + warpCol * WN + laneCol * TN;
  for (int m = 0; m < TM; ++m) {
    for (int n = 0; n < TN; ++n) {
      if (r0 + m < M && c0 + n < N) C[(size_t)(r0 + m) * N + c0 + n] = acc[m][n];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 gridDim((l + BN - 1) / BN, (j + BM - 1) / BM);
  sgemm_warptiling<<<gridDim, NUM_THREADS>>>(j, l, k, M, N, P);
  CHECK(cudaGetLastError());
}
