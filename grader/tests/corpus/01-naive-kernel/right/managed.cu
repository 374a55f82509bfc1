// Style: managed memory, which host and kernel use at one address

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
  float *m, *n, *p;
  CHECK(cudaMallocManaged(&m, bytes));
  CHECK(cudaMallocManaged(&n, bytes));
  CHECK(cudaMallocManaged(&p, bytes));
  memcpy(m, M, bytes);
  memcpy(n, N, bytes);

  dim3 block(16, 16);
  int blocks = (width + block.x - 1) / block.x;
  dim3 grid(blocks, blocks);
  naive_kernel<<<grid, block>>>(m, n, p, width);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  memcpy(P, p, bytes);
  CHECK(cudaFree(m));
  CHECK(cudaFree(n));
  CHECK(cudaFree(p));
}
