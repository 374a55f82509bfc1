// Style: one kernel clears P, another accumulates in two halves of k

#include "check.h"

__global__ void clear(float* P, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) P[i] = 0.0f;
}

__global__ void accumulate(const float* M, const float* N, float* P, int width, int from, int to) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= width || col >= width) return;
  float sum = P[row * width + col];
  for (int k = from; k < to; ++k) sum += M[row * width + k] * N[k * width + col];
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  int count = width * width;
  size_t bytes = sizeof(float) * count;
  float *d_M, *d_N, *d_P;
  CHECK(cudaMalloc(&d_M, bytes));
  CHECK(cudaMalloc(&d_N, bytes));
  CHECK(cudaMalloc(&d_P, bytes));
  CHECK(cudaMemcpy(d_M, M, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_N, N, bytes, cudaMemcpyHostToDevice));
  clear<<<(count + 255) / 256, 256>>>(d_P, count);
  dim3 block(16, 16), grid((width + 15) / 16, (width + 15) / 16);
  accumulate<<<grid, block>>>(d_M, d_N, d_P, width, 0, width / 2);
  accumulate<<<grid, block>>>(d_M, d_N, d_P, width, width / 2, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(P, d_P, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_M));
  CHECK(cudaFree(d_N));
  CHECK(cudaFree(d_P));
}
