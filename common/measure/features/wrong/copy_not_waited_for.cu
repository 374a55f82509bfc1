// A copy to shared memory is used before it has been waited for.
#include <cuda_pipeline.h>

#include "../feature.h"

__global__ void sum(const float* in, float* out) {
  __shared__ float s[128];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];  // FAULT race-shared
  __pipeline_wait_prior(0);
}

int main() {
  float *in = to_device(random_floats(128)), *out = to_device(std::vector<float>(128));
  sum<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
