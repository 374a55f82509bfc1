// A block tells the next one that it has read its tile, and reads it then.
#include "../feature.h"

__global__ void shift(int* a, volatile int* told) {
  __shared__ int s[64];
  if (threadIdx.x == 0) {
    if (blockIdx.x > 0)
      while (told[blockIdx.x - 1] == 0) {
      }
    told[blockIdx.x] = 1;
  }
  __syncthreads();
  s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (blockIdx.x > 0) a[(blockIdx.x - 1) * 64 + threadIdx.x] = s[threadIdx.x];  // FAULT race-global
}

int main() {
  int *a = to_device(random_ints(256, 100)), *told = to_device(std::vector<int>(4));
  shift<<<4, 64>>>(a, told);
  from_device(a, 256);
  OK(cudaFree(a));
  OK(cudaFree(told));
}
