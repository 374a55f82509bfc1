// Style: each thread computes two elements, half a block row apart

#include "check.h"

__global__ void two_outputs(const float* M, const float* N, float* P, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * 2 * blockDim.x + threadIdx.x;
  int right = col + blockDim.x;
  if (row >= width || col >= width) return;
  float sum = 0.0f, sum_right = 0.0f;
  for (int k = 0; k < width; ++k) {
    float m = M[row * width + k];
    sum += m * N[k * width + col];
    if (right < width) sum_right += m * N[k * width + right];
  }
  P[row * width + col] = sum;
  if (right < width) P[row * width + right] = sum_right;
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t bytes = sizeof(float) * width * width;
  float *d_M, *d_N, *d_P;
  CHECK(cudaMalloc((void**)&d_M, bytes));
  CHECK(cudaMalloc((void**)&d_N, bytes));
  CHECK(cudaMalloc((void**)&d_P, bytes));
  CHECK(cudaMemcpy(d_M, M, bytes, cudaMemcpyDefault));
  CHECK(cudaMemcpy(d_N, N, bytes, cudaMemcpyDefault));
  CHECK(cudaMemset(d_P, 0, bytes));
  dim3 block(16, 8), grid((width + 31) / 32, (width + 7) / 8);
  two_outputs<<<grid, block>>>(d_M, d_N, d_P, width);
  CHECK(cudaPeekAtLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(P, d_P, bytes, cudaMemcpyDefault));
  cudaFree(d_M);
  cudaFree(d_N);
  cudaFree(d_P);
}
