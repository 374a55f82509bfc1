// A histogram in shared memory whose bins nobody sets to zero.
#include "../feature.h"

__global__ void count(const int* in, int* out) {
  __shared__ int bins[32];
  atomicAdd(&bins[in[threadIdx.x]], 1);  // FAULT uninitialised-shared
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

int main() {
  int *in = to_device(random_ints(256, 32)), *out = to_device(std::vector<int>(32));
  count<<<1, 256>>>(in, out);
  from_device(out, 32);
  OK(cudaFree(in));
  OK(cudaFree(out));
}
