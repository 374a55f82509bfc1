#include "check.h"

__global__ void vecAdd(const float* A, const float* B, float* C, int total) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < total) {
    C[i] = A[i] + B[i];
  }
}

void solve(const float* A, const float* B, float* C, int rows, int columns) {
  int total = rows * columns;
  int threadsPerBlock = 256;
  int blocksPerGrid = (total + threadsPerBlock - 1) / threadsPerBlock;
  vecAdd<<<blocksPerGrid, threadsPerBlock>>>(A, B, C, total);
  CHECK(cudaGetLastError());
}
