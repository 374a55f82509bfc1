// Style: a fixed grid whose threads take element after element

#include "check.h"

__global__ void naive_kernel(const float* M, const float* N, float* P, int width) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < width * width; i += threads) {
    int row = i / width;
    int col = i % width;
    float sum = 0.0f;
    for (int k = 0; k < width; ++k) sum += M[row * width + k] * N[k * width + col];
    P[i] = sum;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t bytes = sizeof(float) * width * width;
  float* device;  // all three matrices in one allocation
  CHECK(cudaMalloc(&device, 3 * bytes));
  float *d_M = device, *d_N = d_M + width * width, *d_P = d_N + width * width;
  CHECK(cudaMemcpy(d_M, M, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_N, N, bytes, cudaMemcpyHostToDevice));
  naive_kernel<<<2048, 256>>>(d_M, d_N, d_P, width);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(P, d_P, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
}
