// The last block adds up what the others wrote, found by a counter, but nobody fences.
#include "../feature.h"

__device__ unsigned d_done;

__global__ void sum(const float* in, float* parts, float* out) {
  __shared__ bool last;
  float v = in[blockIdx.x * 32 + threadIdx.x];
  for (int k = 16; k; k /= 2) v += __shfl_down_sync(0xffffffffu, v, k);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = v;
    last = atomicAdd(&d_done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += parts[b];  // FAULT race-global
    *out = all;
  }
}

int main() {
  float *in = to_device(random_floats(512)), *parts = to_device(std::vector<float>(16)),
        *out = to_device(std::vector<float>(1));
  sum<<<16, 32>>>(in, parts, out);
  from_device(out, 1);
  for (float* p : {in, parts, out}) OK(cudaFree(p));
}
