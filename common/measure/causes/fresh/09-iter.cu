#include <cuda_runtime.h>

#define CEIL_DIV(M, N) (((M) + (N) - 1) / (N))
const int WARPSIZE = 32;

namespace wt {
template <const int BM, const int BN, const int BK, const int THREADS>
__device__ void loadFromGmem(const float *A, const float *B, float *As, float *Bs, int rows, int cols,
                             int depth, int K, int N) {
  for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
    const int r = i / BK, c = i % BK;
    As[c * BM + r] = r < rows && c < depth ? A[(size_t)r * K + c] : 0.0f;
  }
  for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
    const int r = i / BN, c = i % BN;
    Bs[r * BN + c] = r < depth && c < cols ? B[(size_t)r * N + c] : 0.0f;
  }
}

template <const int BM, const int BN, const int BK, const int WM, const int WN, const int WMITER,
          const int WNITER, const int WSUBM, const int WSUBN, const int TM, const int TN>
__device__ void processFromSmem(float *regM, float *regN, float *threadResults, const float *As,
                                const float *Bs, const unsigned warpRow, const unsigned warpCol,
                                const unsigned threadRowInWarp, const unsigned threadColInWarp) {
  for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
    for (unsigned wSubRowIdx = 0; wSubRowIdx < WMITER; ++wSubRowIdx)
      for (unsigned i = 0; i < TM; ++i)
        regM[wSubRowIdx * TM + i] =
            As[(dotIdx * BM) + warpRow * WM + wSubRowIdx * WSUBM + threadRowInWarp * TM + i];
    for (unsigned wSubColIdx = 0; wSubColIdx < WNITER; ++wSubColIdx)
      for (unsigned i = 0; i < TN; ++i)
        regN[wSubColIdx * TN + i] =
            Bs[(dotIdx * BN) + warpCol * WN + wSubColIdx * WSUBN + threadColInWarp * TN + i];
    for (unsigned wSubRowIdx = 0; wSubRowIdx < WMITER; ++wSubRowIdx)
      for (unsigned wSubColIdx = 0; wSubColIdx < WNITER; ++wSubColIdx)
        for (unsigned m = 0; m < TM; ++m)
          for (unsigned n = 0; n < TN; ++n)
            threadResults[(wSubRowIdx * TM + m) * (WNITER * TN) + wSubColIdx * TN + n] +=
                regM[wSubRowIdx * TM + m] * regN[wSubColIdx * TN + n];
  }
}
}  // namespace wt

template <const int BM, const int BN, const int BK, const int WM, const int WN, const int WNITER,
          const int TM, const int TN, const int NUM_THREADS>
__global__ void __launch_bounds__(NUM_THREADS)
    sgemmWarptiling(int M, int N, int K, const float *A, const float *B, float *C) {
  const unsigned cRow = blockIdx.y, cCol = blockIdx.x;
  const unsigned warpIdx = threadIdx.x / WARPSIZE;
  const unsigned warpCol = warpIdx % (BN / WN);
  const unsigned warpRow = warpIdx / (BN / WN);

  constexpr unsigned WMITER = (WM * WN) / (WARPSIZE * TM * TN * WNITER);
  constexpr unsigned WSUBM = WM / WMITER;
  constexpr unsigned WSUBN = WN / WNITER;

  const unsigned threadIdxInWarp = threadIdx.x % WARPSIZE;
  const unsigned threadColInWarp = threadIdxInWarp % (WSUBN / TN);
  const unsigned threadRowInWarp = threadIdxInWarp / (WSUBN / TN);

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const int rows = M - cRow * BM, cols = N - cCol * BN;
  A += (size_t)cRow * BM * K;
  B += cCol * BN;

  float threadResults[WMITER * TM * WNITER * TN] = {0.0};
  float regM[WMITER * TM] = {0.0};
  float regN[WNITER * TN] = {0.0};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    wt::loadFromGmem<BM, BN, BK, NUM_THREADS>(A, B, As, Bs, rows, cols, K - bkIdx, K, N);
    __syncthreads();
    wt::processFromSmem<BM, BN, BK, WM, WN, WMITER, WNITER, WSUBM, WSUBN, TM, TN>(
        regM, regN, threadResults, As, Bs, warpRow, warpCol, threadRowInWarp, threadColInWarp);
    A += BK;
    B += (size_t)BK * N;
    __syncthreads();
  }

  for (unsigned wSubRowIdx = 0; wSubRowIdx < WMITER; ++wSubRowIdx)
    for (unsigned wSubColIdx = 0; wSubColIdx < WNITER; ++wSubColIdx)
      for (unsigned m = 0; m < TM; ++m)
        for (unsigned n = 0; n < TN; ++n) {
          const int r = warpRow * WM + wSubRowIdx * WSUBM + threadRowInWarp * TM + m;
          const int c = warpCol * WN + wSubColIdx * WSUBN + threadColInWarp * TN + n;
          if (r < rows && c < cols)
            C[((size_t)cRow * BM + r) * N + cCol * BN + c] =
                threadResults[(wSubRowIdx * TM + m) * (WNITER * TN) + wSubColIdx * TN + n];
        }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  const unsigned BM = 64, BN = 64, BK = 16, WM = 32, WN = 32, WNITER = 2, TM = 4, TN = 4;
  const unsigned NUM_THREADS = 128;
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  sgemmWarptiling<BM, BN, BK, WM, WN, WNITER, TM, TN, NUM_THREADS><<<gridDim, NUM_THREADS>>>(j, l, k, M, N, P);
}
