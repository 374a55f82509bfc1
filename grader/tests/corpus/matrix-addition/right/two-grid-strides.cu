// Style: few blocks, and loops with the grid's strides in both directions

#include "check.h"

constexpr int BLOCK_X = 32, BLOCK_Y = 8;

// C = A + B, rows x columns, row-major.
__global__ void add_kernel(const float* A, const float* B, float* C, int rows, int columns) {
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += gridDim.y * blockDim.y)
    for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < columns;
         col += gridDim.x * blockDim.x)
      C[row * columns + col] = A[row * columns + col] + B[row * columns + col];
}

// A, B, C: device pointers, rows * columns floats each.
void solve(const float* A, const float* B, float* C, int rows, int columns) {
  dim3 block(BLOCK_X, BLOCK_Y);
  dim3 grid(2, 3);
  add_kernel<<<grid, block>>>(A, B, C, rows, columns);
  CHECK(cudaGetLastError());
}
