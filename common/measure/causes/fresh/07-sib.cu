#include "check.h"

const int BM = 64, BN = 64, BK = 8, TM = 8, TN = 8;

__device__ float4 fetch(const float *p, int left, bool aligned) {
  if (left <= 0) return make_float4(0, 0, 0, 0);
  if (aligned) return reinterpret_cast<const float4 *>(p)[0];
  return make_float4(p[0], left > 1 ? p[1] : 0, left > 2 ? p[2] : 0, left > 3 ? p[3] : 0);
}

__global__ void sgemmVectorize(int M, int N, int K, const float *A, const float *B, float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);

  __shared__ __align__(16) float As[BM * BK];
  __shared__ __align__(16) float Bs[BK * BN];

  const int rows = M - cRow * BM, cols = N - cCol * BN;
  A += (size_t)cRow * BM * K;
  B += cCol * BN;
  C += (size_t)cRow * BM * N + cCol * BN;

  const uint innerRowA = threadIdx.x / (BK / 4);
  const uint innerColA = threadIdx.x % (BK / 4);
  const uint innerRowB = threadIdx.x / (BN / 4);
  const uint innerColB = threadIdx.x % (BN / 4);

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (uint o = 0; o < BM; o += 32) {
      const int there = (int)(innerRowA + o) < rows ? K - bkIdx - (int)innerColA * 4 : 0;
      float4 tmp = fetch(&A[(size_t)(innerRowA + o) * K + innerColA * 4], there, K % 4 == 0);
      As[(innerColA * 4 + 0) * BM + innerRowA + o] = tmp.x;
      As[(innerColA * 4 + 1) * BM + innerRowA + o] = tmp.y;
      As[(innerColA * 4 + 2) * BM + innerRowA + o] = tmp.z;
      As[(innerColA * 4 + 3) * BM + innerRowA + o] = tmp.w;
    }
    for (uint o = 0; o < BK; o += 4) {
      const int there = bkIdx + (int)(innerRowB + o) < K ? cols - (int)innerColB * 4 : 0;
      reinterpret_cast<float4 *>(&Bs[(innerRowB + o) * BN + innerColB * 4])[0] =
          fetch(&B[(size_t)(innerRowB + o) * N + innerColB * 4], there, N % 4 == 0);
    }
    __syncthreads();

    A += BK;
    B += (size_t)BK * N;

    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (uint resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (uint resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

  for (int resIdxM = 0; resIdxM < TM; ++resIdxM) {
    const int row = threadRow * TM + resIdxM;
    if (row >= rows) break;
    for (int resIdxN = 0; resIdxN < TN; resIdxN += 4) {
      const int col = threadCol * TN + resIdxN;
      const float *r = &threadResults[resIdxM * TN + resIdxN];
      float *to = C + (size_t)row * N + col;
      if (N % 4 == 0 && col < cols) {
        reinterpret_cast<float4 *>(to)[0] = make_float4(r[0], r[1], r[2], r[3]);
      } else {
        for (int e = 0; e < 4 && col + e < cols; ++e) to[e] = r[e];
      }
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  dim3 gridDim((l + BN - 1) / BN, (j + BM - 1) / BM);
  dim3 blockDim(BM * BN / (TM * TN));
  sgemmVectorize<<<gridDim, blockDim>>>(j, l, k, M, N, P);
  CHECK(cudaGetLastError());
}
