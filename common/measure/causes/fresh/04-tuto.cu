// adapted from a tutorial: C = A * B with A: m x kk, B: kk x n
#include <cstdio>
#include <cstdlib>
#include "check.h"

#define TS 32
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    exit(code);
  }
}

__global__ void sgemm_shared(int m, int n, int kk, const float *A, const float *B, float *C) {
  __shared__ float As[TS * TS];
  __shared__ float Bs[TS * TS];

  const int tc = threadIdx.x;
  const int tr = threadIdx.y;
  const int gr = blockIdx.y * TS + tr;
  const int gc = blockIdx.x * TS + tc;

  // move the pointers to this thread's first elements
  A += (size_t)gr * kk + tc;
  B += (size_t)tr * n + gc;

  float tmp = 0.0;
  int left = kk;  // what is still to be done of the inner dimension
  while (left > 0) {
    As[tr * TS + tc] = (gr < m && tc < left) ? *A : 0.0f;
    Bs[tr * TS + tc] = (tr < left && gc < n) ? *B : 0.0f;
    __syncthreads();

    A += TS;
    B += (size_t)TS * n;
    left -= TS;

    for (int dot = 0; dot < TS; ++dot)
      tmp += As[tr * TS + dot] * Bs[dot * TS + tc];
    __syncthreads();
  }

  if (gr < m && gc < n) C[(size_t)gr * n + gc] = tmp;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  dim3 blockDim(TS, TS);
  dim3 gridDim((l + TS - 1) / TS, (j + TS - 1) / TS);
  sgemm_shared<<<gridDim, blockDim>>>(j, l, k, M, N, P);
  gpuErrchk(cudaPeekAtLastError());
}
