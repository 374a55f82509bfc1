// Half of the threads return before a barrier that the others wait at.
#include "../feature.h"

__global__ void shift(float* a, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 100) s[threadIdx.x] = a[i];
  if (threadIdx.x < 70) {
    __syncthreads();  // FAULT barrier-divergence
    a[i] = s[threadIdx.x + 20];
  }
}

int main() {
  float* a = to_device(random_floats(256));
  shift<<<2, 128>>>(a, 256);
  cudaDeviceSynchronize();
  cudaFree(a);
}
