// Each block waits for the flag of the next one, and the last block for one that nobody sets.
#include "../feature.h"

__global__ void chain(volatile int* flags, int n) {
  if (threadIdx.x == 0) {
    while (flags[blockIdx.x + 1] == 0) {  // FAULT deadlock
    }
    flags[blockIdx.x] = 1;
  }
}

int main() {
  int* flags = to_device(std::vector<int>(5));
  chain<<<4, 32>>>(flags, 4);
  cudaDeviceSynchronize();
  cudaFree(flags);
}
