// A loop that allocates and never frees.
#include "../feature.h"

__global__ void fill(int* a) {
  a[threadIdx.x] = threadIdx.x;
}

int main() {
  for (int r = 0; r < 3; ++r) {
    int* a;
    OK(cudaMalloc(&a, 256));  // FAULT memory-leak
    fill<<<1, 64>>>(a);
    from_device(a, 64);
  }
}
