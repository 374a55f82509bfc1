// Compiled with -rdc=true, and linked with linked_other.cu.

#include <cstring>

#include "expect.h"

extern __device__ int shared_value;
extern __constant__ float table[4];
__device__ int twice(int x);
static __device__ int hidden = 3;
static __device__ int own(int x) {
  return x + hidden;
}

__global__ void use(int* out) {
  out[threadIdx.x] = twice(threadIdx.x) + shared_value + own(0) + static_cast<int>(table[1]);
}

void other(int* out, int value);
void past_the_end(int* out);

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  int* out;
  EXPECT_OK(cudaMalloc(&out, 128));
  if (!std::strcmp(which, "fault")) {
    past_the_end(out);
    cudaDeviceSynchronize();
    return 0;
  }
  use<<<1, 32>>>(out);
  int back[32];
  EXPECT_OK(cudaMemcpy(back, out, 128, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 7 + 100 + 3 + 2 && back[31] == 62 + back[0]);
  other(out, 50);
  EXPECT_OK(cudaMemcpy(back, out, 128, cudaMemcpyDeviceToHost));
  EXPECT(back[5] == 2 + 7 + 50);
  EXPECT_OK(cudaFree(out));
  return finish();
}
