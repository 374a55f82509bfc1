// sgemm: the design of Volkov and Demmel, as in MAGMA BLAS 0.2, for column-major matrices. One
// thread computes 16 neighbouring elements of a row of C in registers; a 16x16 tile of B goes
// through shared memory; A is read straight from global memory. Block shape: (16, 4). After the
// description in Li, Ranka, Sahni, "GPU Matrix Multiplication".

#include "check.h"

#ifndef BLOCK_Y
#define BLOCK_Y 4
#endif

constexpr int ROWS = 16 * BLOCK_Y;  // rows of C per block: one per thread
constexpr int COLUMNS = 16;         // columns of C per block and per thread
constexpr int DEPTH = 16;           // rows of B per tile

// C = alpha * A x B + beta * C, all n x n, COLUMN-major: element (r, c) at c * n + r. With beta 0,
// C is not read. A block computes 16 * BLOCK_Y rows by 16 columns of C.
__global__ void sgemm(const float* A, int lda, const float* B, int ldb, float* C, int ldc, int n,
                      float alpha, float beta) {
  __shared__ float Bs[DEPTH]
                     [COLUMNS + 1];  // [k][column], 1088 bytes; the padding spreads the stores
  int row = blockIdx.x * ROWS + threadIdx.y * 16 + threadIdx.x;
  int col0 = blockIdx.y * COLUMNS;
  float sum[COLUMNS] = {};
  for (int k0 = 0; k0 < n; k0 += DEPTH) {
    for (int c = threadIdx.y; c < COLUMNS;
         c += BLOCK_Y) {  // a half warp reads 16 elements of one column
      Bs[threadIdx.x][c] = B[(col0 + c) * ldb + k0 + threadIdx.x];
    }
    __syncthreads();  // tile complete before it is used
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float value = A[(k0 + k) * lda + row];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        sum[c] += value * Bs[k][c];  // all lanes read one word: a broadcast
      }
    }
    __syncthreads();  // tile used before it is overwritten
  }
  for (int c = 0; c < COLUMNS; ++c) {
    float* target = &C[(col0 + c) * ldc + row];
    *target = beta == 0.0f ? alpha * sum[c] : alpha * sum[c] + beta * *target;
  }
}

// P = M x N, row-major, n a multiple of ROWS; another n is refused. Device pointers. Read column by
// column, a row-major matrix is its own transpose, and P' = N' x M': so N is passed as A and M as
// B.
void solve(const float* M, const float* N, float* P, int n) {
  if (n % ROWS != 0 || n % COLUMNS != 0) {
    CHECK(cudaErrorInvalidValue);
    return;
  }
  sgemm<<<dim3(n / ROWS, n / COLUMNS), dim3(16, BLOCK_Y)>>>(N, n, M, n, P, n, n, 1.0f, 0.0f);
  CHECK(cudaGetLastError());
}
