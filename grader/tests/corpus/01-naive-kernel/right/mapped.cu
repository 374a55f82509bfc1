// Style: pinned memory of the host, mapped for the kernel

#include <cstring>

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
  float *h_M, *h_N, *h_P, *d_M, *d_N, *d_P;
  CHECK(cudaHostAlloc(&h_M, bytes, cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&h_N, bytes, cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&h_P, bytes, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&d_M, h_M, 0));
  CHECK(cudaHostGetDevicePointer(&d_N, h_N, 0));
  CHECK(cudaHostGetDevicePointer(&d_P, h_P, 0));
  memcpy(h_M, M, bytes);
  memcpy(h_N, N, bytes);

  dim3 block(16, 16);
  int blocks = (width + block.x - 1) / block.x;
  dim3 grid(blocks, blocks);
  naive_kernel<<<grid, block>>>(d_M, d_N, d_P, width);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  memcpy(P, h_P, bytes);
  CHECK(cudaFreeHost(h_M));
  CHECK(cudaFreeHost(h_N));
  CHECK(cudaFreeHost(h_P));
}
