// Lab 05, Wang Lei. 128 threads, every thread 8 rows x 4 columns.
#include "check.h"

enum { BM = 64, BN = 64, BK = 16, TX = 16, TY = 8, RM = BM / TY, RN = BN / TX };

__device__ void loadM(float (*dst)[BM], const float* M, int j, int k, int r0, int k0, int tid) {
  for (int e = tid; e < BM * BK; e += TX * TY) {
    int kk = e & (BK - 1);
    int rr = e >> 4;
    bool ok = (r0 + rr < j) & (k0 + kk < k);
    dst[kk][rr] = ok ? M[(size_t)(r0 + rr) * k + (k0 + kk)] : 0.f;
  }
}

__device__ void loadN(float (*dst)[BN], const float* N, int k, int l, int k0, int c0, int tid) {
  for (int e = tid; e < BK * BN; e += TX * TY) {
    int cc = e & (BN - 1);
    int kk = e >> 6;
    bool ok = (k0 + kk < k) & (c0 + cc < l);
    dst[kk][cc] = ok ? N[(size_t)(k0 + kk) * l + (c0 + cc)] : 0.f;
  }
}

__global__ void gemm_8x4(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float sM[BK][BM];
  __shared__ float sN[BK][BN];
  int tid = threadIdx.y * TX + threadIdx.x;
  int r0 = blockIdx.y * BM;
  int c0 = blockIdx.x * BN;

  float acc[RM * RN];
#pragma unroll
  for (int z = 0; z < RM * RN; z++) acc[z] = 0.f;

  int k0 = 0;
  while (k0 < k) {
    loadM(sM, M, j, k, r0, k0, tid);
    loadN(sN, N, k, l, k0, c0, tid);
    __syncthreads();
    for (int kk = 0; kk < BK; kk++) {
      float regN[RN];
#pragma unroll
      for (int c = 0; c < RN; c++) regN[c] = sN[kk][c * TX + threadIdx.x];
#pragma unroll
      for (int r = 0; r < RM; r++) {
        float regM = sM[kk][threadIdx.y * RM + r];
#pragma unroll
        for (int c = 0; c < RN; c++) acc[r * RN + c] += regM * regN[c];
      }
    }
    __syncthreads();
    k0 += BK;
  }

  float* out = P + (size_t)(r0 + threadIdx.y * RM) * l + c0 + threadIdx.x;
#pragma unroll
  for (int r = 0; r < RM; r++) {
    if (r0 + (int)threadIdx.y * RM + r < j) {
#pragma unroll
      for (int c = 0; c < RN; c++) {
        if (c0 + c * TX + (int)threadIdx.x < l) out[c * TX] = acc[r * RN + c];
      }
    }
    out += l;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 threads(TX, TY);
  dim3 blocks((l + BN - 1) / BN, (j + BM - 1) / BM);
  gemm_8x4<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
