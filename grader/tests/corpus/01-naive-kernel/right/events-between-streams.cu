// Style: copies in two streams, the kernel in a third that waits for their events

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
  cudaStream_t first, second, work;
  cudaEvent_t first_copied, second_copied;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&first_copied, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&second_copied, cudaEventDisableTiming));
  CHECK(cudaMemcpyAsync(d_M, M, bytes, cudaMemcpyHostToDevice, first));
  CHECK(cudaEventRecord(first_copied, first));
  CHECK(cudaMemcpyAsync(d_N, N, bytes, cudaMemcpyHostToDevice, second));
  CHECK(cudaEventRecord(second_copied, second));
  CHECK(cudaStreamWaitEvent(work, first_copied, 0));
  CHECK(cudaStreamWaitEvent(work, second_copied, 0));

  dim3 block(16, 16);
  int blocks = (width + block.x - 1) / block.x;
  dim3 grid(blocks, blocks);
  naive_kernel<<<grid, block, 0, work>>>(d_M, d_N, d_P, width);
  CHECK(cudaGetLastError());

  float* h_P;  // pinned
  CHECK(cudaMallocHost(&h_P, bytes));
  CHECK(cudaMemcpyAsync(h_P, d_P, bytes, cudaMemcpyDeviceToHost, work));
  CHECK(cudaEventRecord(first_copied, work));
  CHECK(cudaEventSynchronize(first_copied));
  for (int i = 0; i < width * width; ++i) P[i] = h_P[i];
  CHECK(cudaFreeHost(h_P));
  CHECK(cudaEventDestroy(first_copied));
  CHECK(cudaEventDestroy(second_copied));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  CHECK(cudaStreamDestroy(work));
  CHECK(cudaFree(d_M));
  CHECK(cudaFree(d_N));
  CHECK(cudaFree(d_P));
}
