#include "check.h"

#define BLOCK_SIZE 16

__global__ void MatMulShared(float* C, const float* A, const float* B, int wA, int wB) {
  __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];

  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;

  int a = wA * BLOCK_SIZE * by;
  int aEnd = a + wA;
  int b = BLOCK_SIZE * bx;
  int bStep = BLOCK_SIZE * wB;
  float Csub = 0;

  while (a < aEnd) {
    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();

#pragma unroll
    for (int k = 0; k < BLOCK_SIZE; ++k) {
      Csub += As[ty][k] * Bs[k][tx];
    }

    __syncthreads();
    a += BLOCK_SIZE;
    b += bStep;
  }

  int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
  C[c + wB * ty + tx] = Csub;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 threads(BLOCK_SIZE, BLOCK_SIZE);
  dim3 grid(width / threads.x, width / threads.y);
  MatMulShared<<<grid, threads>>>(P, M, N, width, width);
  CHECK(cudaGetLastError());
}
