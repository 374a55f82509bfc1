// A guard with <= where < is meant.
#include "../feature.h"

__global__ void scale(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) a[i] *= 2;  // FAULT out-of-bounds-global
}

int main() {
  float* a = to_device(random_floats(1000));
  scale<<<4, 256>>>(a, 1000);
  cudaDeviceSynchronize();
  cudaFree(a);
}
