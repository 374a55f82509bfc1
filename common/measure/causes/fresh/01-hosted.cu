// homework 1: matrix multiplication on the GPU
#include <cstdlib>

#include "check.h"

#define gpuErrchk(ans) gpuAssert((ans), __FILE__, __LINE__)
inline void gpuAssert(cudaError_t code, const char* file, int line) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    exit(code);
  }
}

__global__ void matMulKernel(const float* A, const float* B, float* C, int N) {
  int ROW = blockIdx.y * blockDim.y + threadIdx.y;
  int COL = blockIdx.x * blockDim.x + threadIdx.x;
  float tmpSum = 0;

  if (ROW < N && COL < N) {
    // each thread computes one element of the block sub-matrix
    for (int i = 0; i < N; i++) {
      tmpSum += A[ROW * N + i] * B[i * N + COL];
    }
    C[ROW * N + COL] = tmpSum;
  }
}

void solve(const float* h_A, const float* h_B, float* h_C, int N) {
  int SIZE = N * N;
  float *d_A, *d_B, *d_C;
  gpuErrchk(cudaMalloc(&d_A, SIZE * sizeof(float)));
  gpuErrchk(cudaMalloc(&d_B, SIZE * sizeof(float)));
  gpuErrchk(cudaMalloc(&d_C, SIZE * sizeof(float)));

  gpuErrchk(cudaMemcpy(d_A, h_A, SIZE * sizeof(float), cudaMemcpyHostToDevice));
  gpuErrchk(cudaMemcpy(d_B, h_B, SIZE * sizeof(float), cudaMemcpyHostToDevice));

  dim3 threadsPerBlock(32, 8);
  dim3 blocksPerGrid(1, 1);
  blocksPerGrid.x = (N + threadsPerBlock.x - 1) / threadsPerBlock.x;
  blocksPerGrid.y = (N + threadsPerBlock.y - 1) / threadsPerBlock.y;
  matMulKernel<<<blocksPerGrid, threadsPerBlock>>>(d_A, d_B, d_C, N);
  gpuErrchk(cudaPeekAtLastError());
  gpuErrchk(cudaDeviceSynchronize());

  gpuErrchk(cudaMemcpy(h_C, d_C, SIZE * sizeof(float), cudaMemcpyDeviceToHost));
  gpuErrchk(cudaFree(d_A));
  gpuErrchk(cudaFree(d_B));
  gpuErrchk(cudaFree(d_C));
}
