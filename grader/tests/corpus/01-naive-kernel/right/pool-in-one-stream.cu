// Style: buffers of the stream itself: cudaMallocAsync and cudaFreeAsync

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
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocAsync((void**)&d_M, bytes, stream));
  CHECK(cudaMallocAsync((void**)&d_N, bytes, stream));
  CHECK(cudaMallocAsync((void**)&d_P, bytes, stream));
  CHECK(cudaMemcpyAsync(d_M, M, bytes, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(d_N, N, bytes, cudaMemcpyHostToDevice, stream));

  dim3 block(16, 16);
  int blocks = (width + block.x - 1) / block.x;
  dim3 grid(blocks, blocks);
  naive_kernel<<<grid, block, 0, stream>>>(d_M, d_N, d_P, width);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpyAsync(P, d_P, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(d_M, stream));
  CHECK(cudaFreeAsync(d_N, stream));
  CHECK(cudaFreeAsync(d_P, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
}
