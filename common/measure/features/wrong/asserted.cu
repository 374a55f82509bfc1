// An assertion that data break.
#include <cassert>

#include "../feature.h"

__global__ void check(const int* in) {
  assert(in[threadIdx.x] < 90);  // FAULT assert
}

int main() {
  auto h = random_ints(256, 90);
  h[100] = 95;
  int* in = to_device(h);
  check<<<1, 256>>>(in);
  cudaDeviceSynchronize();
  cudaFree(in);
}
