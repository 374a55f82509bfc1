// A kernel that computes half of what is copied back.
#include "../feature.h"

__global__ void fill(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

int main() {
  int* a;
  std::vector<int> h(1000);
  OK(cudaMalloc(&a, 4000));
  fill<<<2, 250>>>(a, 1000);
  OK(cudaMemcpy(h.data(), a, 4000, cudaMemcpyDeviceToHost));  // FAULT never-written-copy
  OK(cudaFree(a));
}
