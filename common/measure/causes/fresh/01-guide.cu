// matrices as in the programming guide: a struct by value
#include <cuda_runtime.h>

#include <cassert>

typedef struct {
  int width;
  int height;
  float* elements;
} Matrix;

#define BLOCK_SIZE 16

__global__ void MatMulKernel(const Matrix A, const Matrix B, Matrix C) {
  float Cvalue = 0;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= C.height || col >= C.width) return;
  for (int e = 0; e < A.width; ++e) Cvalue += A.elements[row * A.width + e] * B.elements[e * B.width + col];
  C.elements[row * C.width + col] = Cvalue;
}

static size_t sizeOf(const Matrix& m) { return m.width * m.height * sizeof(float); }

void MatMul(const Matrix A, const Matrix B, Matrix C) {
  Matrix d_A;
  d_A.width = A.width;
  d_A.height = A.height;
  cudaError_t err = cudaMalloc(&d_A.elements, sizeOf(A));
  assert(err == cudaSuccess);
  err = cudaMemcpy(d_A.elements, A.elements, sizeOf(A), cudaMemcpyHostToDevice);
  assert(err == cudaSuccess);
  Matrix d_B;
  d_B.width = B.width;
  d_B.height = B.height;
  err = cudaMalloc(&d_B.elements, sizeOf(B));
  assert(err == cudaSuccess);
  err = cudaMemcpy(d_B.elements, B.elements, sizeOf(B), cudaMemcpyHostToDevice);
  assert(err == cudaSuccess);

  Matrix d_C;
  d_C.width = C.width;
  d_C.height = C.height;
  err = cudaMalloc(&d_C.elements, sizeOf(C));
  assert(err == cudaSuccess);

  dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
  dim3 dimGrid((B.width + dimBlock.x - 1) / dimBlock.x, (A.height + dimBlock.y - 1) / dimBlock.y);
  MatMulKernel<<<dimGrid, dimBlock>>>(d_A, d_B, d_C);
  err = cudaGetLastError();
  assert(err == cudaSuccess);

  err = cudaMemcpy(C.elements, d_C.elements, sizeOf(C), cudaMemcpyDeviceToHost);
  assert(err == cudaSuccess);
  cudaFree(d_A.elements);
  cudaFree(d_B.elements);
  cudaFree(d_C.elements);
}

void solve(const float* M, const float* N, float* P, int width) {
  Matrix A = {width, width, const_cast<float*>(M)};
  Matrix B = {width, width, const_cast<float*>(N)};
  Matrix C = {width, width, P};
  MatMul(A, B, C);
}
