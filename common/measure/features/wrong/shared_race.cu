// A block's sums by a tree, without the barrier between its steps.
#include "../feature.h"

__global__ void sum(const float* in, float* out) {
  __shared__ float s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];  // FAULT race-shared
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

int main() {
  float *in = to_device(random_floats(1024)), *out = to_device(std::vector<float>(4));
  sum<<<4, 256>>>(in, out);
  from_device(out, 4);
  OK(cudaFree(in));
  OK(cudaFree(out));
}
