// Lab 03 - translated from the numba matmul example (TPB = threads per block side)
#include "check.h"

const int TPB = 16;

__device__ float item(const float* a, int i, int j, int n) {
  if (i >= n) return 0.f;
  if (j >= n) return 0.f;
  return a[i * n + j];
}

__global__ void fast_matmul(const float* A, const float* B, float* C, int n) {
  __shared__ float sA[TPB][TPB];
  __shared__ float sB[TPB][TPB];

  int i = threadIdx.y + blockIdx.y * blockDim.y;
  int j = threadIdx.x + blockIdx.x * blockDim.x;
  int ti = threadIdx.y;
  int tj = threadIdx.x;

  float tmp = 0.f;
  int k0 = 0;
  do {
    sA[ti][tj] = item(A, i, k0 + tj, n);
    sB[ti][tj] = item(B, k0 + ti, j, n);
    __syncthreads();
    for (int k = 0; k < TPB; k++) tmp += sA[ti][k] * sB[k][tj];
    __syncthreads();
    k0 += TPB;
  } while (k0 < n);

  bool inside = i < n && j < n;
  if (inside) C[i * n + j] = tmp;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 threadsperblock(TPB, TPB);
  int bpg = width / TPB;
  if (width % TPB) bpg += 1;
  dim3 blockspergrid(bpg, bpg);

  fast_matmul<<<blockspergrid, threadsperblock>>>(M, N, P, width);
  cudaError_t e = cudaPeekAtLastError();
  if (e != cudaSuccess) CHECK(e);
}
