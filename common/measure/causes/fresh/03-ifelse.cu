#include "check.h"

#define TILE_DIM 32

__global__ void MatMul(const float* A, const float* B, float* C, int n) {
  float CValue = 0;
  int Row = blockIdx.y * TILE_DIM + threadIdx.y;
  int Col = blockIdx.x * TILE_DIM + threadIdx.x;

  __shared__ float As[TILE_DIM][TILE_DIM];
  __shared__ float Bs[TILE_DIM][TILE_DIM];

  for (int k = 0; k < (TILE_DIM + n - 1) / TILE_DIM; k++) {
    if (k * TILE_DIM + threadIdx.x < n && Row < n)
      As[threadIdx.y][threadIdx.x] = A[Row * n + k * TILE_DIM + threadIdx.x];
    else
      As[threadIdx.y][threadIdx.x] = 0.0;

    if (k * TILE_DIM + threadIdx.y < n && Col < n)
      Bs[threadIdx.y][threadIdx.x] = B[(k * TILE_DIM + threadIdx.y) * n + Col];
    else
      Bs[threadIdx.y][threadIdx.x] = 0.0;

    __syncthreads();

    for (int i = 0; i < TILE_DIM; ++i)
      CValue += As[threadIdx.y][i] * Bs[i][threadIdx.x];

    __syncthreads();
  }

  if (Row < n && Col < n)
    C[((blockIdx.y * blockDim.y + threadIdx.y) * n) + (blockIdx.x * blockDim.x) + threadIdx.x] = CValue;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 dimBlock(TILE_DIM, TILE_DIM, 1);
  dim3 dimGrid;
  dimGrid.x = (width + dimBlock.x - 1) / dimBlock.x;
  dimGrid.y = (width + dimBlock.y - 1) / dimBlock.y;
  MatMul<<<dimGrid, dimBlock>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
