// GPU1: one thread computes one element of P; every operand comes from global memory.
// After Li, Ranka, Sahni, "GPU Matrix Multiplication". Their best block shape: (256, 1).

#include "check.h"

#ifndef BLOCK_X
#define BLOCK_X 256
#define BLOCK_Y 1
#endif

// P = M x N, all n x n, row-major. A block computes BLOCK_Y rows by BLOCK_X columns of P.
__global__ void gpu1(const float* M, const float* N, float* P, int n) {
  int row = blockIdx.y * BLOCK_Y + threadIdx.y;  // row of M and P
  int col = blockIdx.x * BLOCK_X + threadIdx.x;  // column of N and P
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    sum += M[row * n + k] * N[k * n + col];
  }
  P[row * n + col] = sum;
}

// n: a multiple of BLOCK_X and BLOCK_Y; another n is refused. Device pointers.
void solve(const float* M, const float* N, float* P, int n) {
  if (n % BLOCK_X != 0 || n % BLOCK_Y != 0) {
    CHECK(cudaErrorInvalidValue);
    return;
  }
  gpu1<<<dim3(n / BLOCK_X, n / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
