// Blocks count in words that nobody else looks at: none learns by it that another one has read.
#include "../feature.h"

__global__ void shift(int* a, int* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = a[i + blockDim.x];
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x + gridDim.x] = atomicAdd(&counts[blockIdx.x], 1);
  __syncthreads();
  a[i] = next;  // FAULT race-global
}

int main() {
  int *a = to_device(random_ints(320, 100)), *counts = to_device(std::vector<int>(8));
  shift<<<4, 64>>>(a, counts);
  from_device(a, 256);
  OK(cudaFree(a));
  OK(cudaFree(counts));
}
