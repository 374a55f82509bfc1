// Four floats at once, from an address that is no multiple of 16.
#include "../feature.h"

__global__ void sums(const float* in, float* out) {
  const float* from = in + 4 * threadIdx.x + 1;
  const float4 v = *reinterpret_cast<const float4*>(from);  // FAULT misaligned-access
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main() {
  float *in = to_device(random_floats(256)), *out = to_device(std::vector<float>(32));
  sums<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
