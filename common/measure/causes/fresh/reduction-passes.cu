// sums of blocks, then sums of these, until one is left
#include "check.h"

const int BLOCK = 256;

__global__ void pass(const float* in, float* out, int n) {
  __shared__ float part[BLOCK];
  int at = blockIdx.x * BLOCK + threadIdx.x;
  part[threadIdx.x] = at < n ? in[at] : 0.0f;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

void solve(const float* x, float* sum, int n) {
  int most = (n + BLOCK - 1) / BLOCK;
  float* work[2];
  for (auto& w : work) CHECK(cudaMalloc(&w, most * sizeof(float)));
  const float* from = x;
  int left = n, turn = 0;
  do {
    int blocks = (left + BLOCK - 1) / BLOCK;
    pass<<<blocks, BLOCK>>>(from, work[turn], left);
    CHECK(cudaGetLastError());
    from = work[turn];
    turn = 1 - turn;
    left = blocks;
  } while (left > 1);
  CHECK(cudaMemcpy(sum, from, sizeof(float), cudaMemcpyDeviceToDevice));
  for (auto& w : work) CHECK(cudaFree(w));
}
