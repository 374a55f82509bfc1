// A block of 2048 threads, and nobody asks whether the launch went well.
#include "../feature.h"

__global__ void fill(int* a) {
  a[threadIdx.x] = threadIdx.x;
}

int main() {
  int* a = to_device(std::vector<int>(2048));
  fill<<<1, 2048>>>(a);  // FAULT launch-config unchecked-launch
  std::vector<int> h(2048);
  cudaMemcpy(h.data(), a, 8192, cudaMemcpyDeviceToHost);
  cudaFree(a);
}
