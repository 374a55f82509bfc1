// Sums that are added to, in memory that nobody has set to zero.
#include "../feature.h"

__global__ void add(const float* in, float* sums) {
  int i = threadIdx.x;
  sums[i] += in[i];  // FAULT uninitialised-global
}

int main() {
  float *in = to_device(random_floats(64)), *sums;
  OK(cudaMalloc(&sums, 256));
  add<<<1, 64>>>(in, sums);
  from_device(sums, 64);
  OK(cudaFree(in));
  OK(cudaFree(sums));
}
