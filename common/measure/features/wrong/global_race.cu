// A histogram that adds without atomics.
#include "../feature.h"

__global__ void count(const int* in, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[in[i]] += 1;  // FAULT race-global
}

int main() {
  int *in = to_device(random_ints(2000, 16)), *bins = to_device(std::vector<int>(16));
  count<<<8, 256>>>(in, bins, 2000);
  from_device(bins, 16);
  OK(cudaFree(in));
  OK(cudaFree(bins));
}
