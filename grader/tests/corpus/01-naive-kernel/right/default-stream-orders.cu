// Style: two blocking streams, which the default stream between them orders

#include "check.h"  // CHECK(call) reports a CUDA call that fails

// P = M x N. M, N, P: device pointers. Grid: x covers the columns of P, y covers its rows.
__global__ void naive_kernel(const float* M, const float* N, float* P, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;  // row of M and P, 0..width-1 and beyond
  int col = blockIdx.x * blockDim.x + threadIdx.x;  // column of N and P, 0..width-1 and beyond

  if (row >= width || col >= width) return;

  float sum = 0.0f;
  for (int k = 0; k < width; ++k) {  // column of M and row of N, 0..width-1
    sum += M[row * width + k] * N[k * width + col];
  }
  P[row * width + col] = sum;
}

// P = M x N. M, N, P: HOST pointers, width * width floats each.
void solve(const float* M, const float* N, float* P, int width) {
  size_t bytes = sizeof(float) * width * width;  // of one matrix
  float *d_M, *d_N, *d_P;                        // the matrices on the device
  CHECK(cudaMalloc(&d_M, bytes));
  CHECK(cudaMalloc(&d_N, bytes));
  CHECK(cudaMalloc(&d_P, bytes));
  cudaStream_t before, after;
  CHECK(cudaStreamCreate(&before));
  CHECK(cudaStreamCreate(&after));
  CHECK(cudaMemcpyAsync(d_M, M, bytes, cudaMemcpyHostToDevice, before));
  CHECK(cudaMemcpyAsync(d_N, N, bytes, cudaMemcpyHostToDevice, before));

  dim3 block(16, 16);
  int blocks = (width + block.x - 1) / block.x;
  dim3 grid(blocks, blocks);
  naive_kernel<<<grid, block>>>(d_M, d_N, d_P, width);  // waits for `before`, and `after` for it
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpyAsync(P, d_P, bytes, cudaMemcpyDeviceToHost, after));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(before));
  CHECK(cudaStreamDestroy(after));
  CHECK(cudaFree(d_M));
  CHECK(cudaFree(d_N));
  CHECK(cudaFree(d_P));
}
