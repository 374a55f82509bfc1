// adapted from the matrix struct of the programming guide
#include "check.h"

#define BLOCK_SIZE 16

typedef struct {
  int width;
  int height;
  size_t stride;
  const float* elements;
} Matrix;

__device__ float GetElement(const Matrix A, int row, int col) {
  return (row < A.height && col < A.width) ? A.elements[row * A.stride + col] : 0.0f;
}

// The part of A that begins at (row, col), not longer than BLOCK_SIZE in each direction
__device__ Matrix GetSubMatrix(const Matrix A, int row, int col) {
  Matrix Asub;
  Asub.width = min(BLOCK_SIZE, A.width - col);
  Asub.height = min(BLOCK_SIZE, A.height - row);
  Asub.stride = A.stride;
  Asub.elements = A.elements + A.stride * row + col;
  return Asub;
}

__global__ void MatMulKernel(Matrix A, Matrix B, float* C) {
  int blockRow = blockIdx.y * BLOCK_SIZE;
  int blockCol = blockIdx.x * BLOCK_SIZE;
  int row = threadIdx.y;
  int col = threadIdx.x;
  float Cvalue = 0;

  __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];

  for (int m = 0; m < (A.width + BLOCK_SIZE - 1) / BLOCK_SIZE; ++m) {
    Matrix Asub = GetSubMatrix(A, blockRow, m * BLOCK_SIZE);
    Matrix Bsub = GetSubMatrix(B, m * BLOCK_SIZE, blockCol);
    As[row][col] = GetElement(Asub, row, col);
    Bs[row][col] = GetElement(Bsub, row, col);
    __syncthreads();
    for (int e = 0; e < BLOCK_SIZE; ++e) Cvalue += As[row][e] * Bs[e][col];
    __syncthreads();
  }

  if (blockRow + row >= A.height) return;
  if (blockCol + col >= B.width) return;
  C[(blockRow + row) * B.stride + blockCol + col] = Cvalue;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Matrix d_A, d_B;
  d_A.width = k;
  d_A.stride = k;
  d_A.height = j;
  d_A.elements = M;
  d_B.width = l;
  d_B.stride = l;
  d_B.height = k;
  d_B.elements = N;

  dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
  dim3 dimGrid;
  dimGrid.x = (d_B.width + dimBlock.x - 1) / dimBlock.x;
  dimGrid.y = (d_A.height + dimBlock.y - 1) / dimBlock.y;
  MatMulKernel<<<dimGrid, dimBlock>>>(d_A, d_B, P);
  CHECK(cudaPeekAtLastError());
}
