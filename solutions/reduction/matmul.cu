// Exercise "reduction": the sum of n numbers. Each block adds 256 of them by a tree in shared
// memory, and then adds its sum to the others' with one atomic. The handout is README.md.
//
//   make grade LAB=reduction                              grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it

#include "check.h"

constexpr int BLOCK = 256;  // threads of a block, and numbers that it adds

__global__ void reduce_kernel(const float* x, float* sum, int n) {
  __shared__ float part[BLOCK];
  int tid = threadIdx.x;
  int i = blockIdx.x * BLOCK + tid;

  // TODO(1): put x[i] into part, or 0 where x has ended; wait for the block. (about 2 lines)
  part[tid] = i < n ? x[i] : 0.0f;
  __syncthreads();
  // END TODO(1)

  // TODO(2): add the upper half of part to the lower, until part[0] holds it all. (about 4 lines)
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (tid < half) part[tid] += part[tid + half];
    __syncthreads();  // for all threads of the block, outside of the if
  }
  // END TODO(2)

  // TODO(3): one thread adds the block's sum to *sum, as other blocks do meanwhile. (about 1 line)
  if (tid == 0) atomicAdd(sum, part[0]);
  // END TODO(3)
}

// *sum = x[0] + ... + x[n - 1]. x, sum: device pointers.
void solve(const float* x, float* sum, int n) {
  CHECK(cudaMemset(sum, 0, sizeof(float)));  // the atomics add to it
  reduce_kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, sum, n);
  CHECK(cudaGetLastError());
}
