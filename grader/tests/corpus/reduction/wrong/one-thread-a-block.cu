// Fault: each block is one thread that adds 256 numbers

#include "check.h"

constexpr int BLOCK = 256;  // threads of a block, and numbers that it adds

__global__ void reduce_kernel(const float* x, float* sum, int n) {
  __shared__ float part[BLOCK];
  int tid = threadIdx.x;
  int i = blockIdx.x * BLOCK + tid;

  float total = 0.0f;
  for (int j = blockIdx.x * BLOCK; j < min(n, int(blockIdx.x + 1) * BLOCK); ++j) total += x[j];


  atomicAdd(sum, total);
}

// *sum = x[0] + ... + x[n - 1]. x, sum: device pointers.
void solve(const float* x, float* sum, int n) {
  CHECK(cudaMemset(sum, 0, sizeof(float)));  // the atomics add to it
  reduce_kernel<<<(n + BLOCK - 1) / BLOCK, 1>>>(x, sum, n);
  CHECK(cudaGetLastError());
}
