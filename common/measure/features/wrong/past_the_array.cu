// The row of a tile that is one longer than the tile.
#include "../feature.h"

__global__ void turn(const float* in, float* out) {
  __shared__ float s[16][16];
  s[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  const int at = threadIdx.y * 16 + threadIdx.x;
  out[at] = s[threadIdx.x + 1][threadIdx.y];  // FAULT out-of-bounds-shared
}

int main() {
  float *in = to_device(random_floats(256)), *out = to_device(std::vector<float>(256));
  turn<<<1, dim3(16, 16)>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
