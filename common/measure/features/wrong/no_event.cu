// Two streams, and nothing between the one that writes and the one that reads.
#include "../feature.h"

__global__ void fill(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

__global__ void add(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + 1;  // FAULT unordered-streams
}

int main() {
  int *a, *b;
  OK(cudaMalloc(&a, 4000));
  OK(cudaMalloc(&b, 4000));
  cudaStream_t s, t;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&t));
  fill<<<4, 256, 0, s>>>(a, 1000);
  add<<<4, 256, 0, t>>>(a, b, 1000);
  from_device(b, 1000);
  OK(cudaStreamDestroy(s));
  OK(cudaStreamDestroy(t));
  OK(cudaFree(a));
  OK(cudaFree(b));
}
