// two kernels: partial sums, then their sum
#include "check.h"

#define NT 256
#define SYNC __syncthreads()

__device__ float blockSum(float mine) {
  __shared__ float words[NT];
  int t = threadIdx.x;
  words[t] = mine;
  SYNC;
  for (int step = NT / 2; step >= 1; step = step / 2) {
    if (t < step) words[t] = words[t] + words[t + step];
    SYNC;
  }
  return words[0];
}

__global__ void partial(const float* x, float* parts, int n) {
  int i = blockIdx.x * NT + threadIdx.x;
  float s = blockSum(i < n ? x[i] : 0.0f);
  if (threadIdx.x == 0) parts[blockIdx.x] = s;
}

__global__ void final_sum(const float* parts, float* sum, int count) {
  float mine = 0.0f;
  for (int i = threadIdx.x; i < count; i += NT) mine += parts[i];
  float s = blockSum(mine);
  if (threadIdx.x == 0) *sum = s;
}

void solve(const float* x, float* sum, int n) {
  int blocks = (n + NT - 1) / NT;
  float* parts;
  CHECK(cudaMalloc(&parts, sizeof(float) * blocks));
  partial<<<blocks, NT>>>(x, parts, n);
  CHECK(cudaGetLastError());
  final_sum<<<1, NT>>>(parts, sum, blocks);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(parts));
}
