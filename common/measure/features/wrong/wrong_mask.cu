// A shuffle of the lanes below 20 that names all lanes.
#include "../feature.h"

__global__ void rotate(const int* in, int* out) {
  int v = in[threadIdx.x];
  if (threadIdx.x < 20)
    v = __shfl_sync(0x000000ffu, v, (threadIdx.x + 1) % 20);  // FAULT wrong-mask
  out[threadIdx.x] = v;
}

int main() {
  int *in = to_device(random_ints(32, 100)), *out = to_device(std::vector<int>(32));
  rotate<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
