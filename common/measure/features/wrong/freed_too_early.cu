// A buffer of a stream that is given back before its last reader, in another stream, has run.
#include "../feature.h"

__global__ void fill(int* a) {
  a[threadIdx.x] = threadIdx.x;
}
__global__ void copy(const int* a, int* b) {
  b[threadIdx.x] = a[threadIdx.x];  // FAULT out-of-bounds-global
}

int main() {
  int *a, *b = to_device(std::vector<int>(128));
  OK(cudaMalloc(&a, 512));
  fill<<<1, 128>>>(a);
  OK(cudaFree(a));
  copy<<<1, 128>>>(a, b);
  cudaDeviceSynchronize();
  cudaFree(b);
}
