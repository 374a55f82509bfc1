// Parts of a product that are no lesson of lab 11 any more: rounding M and N, storing P.

#pragma once

#include <cuda_bf16.h>

#include "check.h"

// How many pieces of size `piece` cover `whole`, the last of which may hang over.
__host__ __device__ inline int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// Grid: x covers the columns, y covers the rows.
__global__ void round_kernel(const float* from, __nv_bfloat16* to, int rows, int cols, int pitch) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && col < cols) {
    to[size_t(row) * pitch + col] = __float2bfloat16(from[size_t(row) * cols + col]);
  }
}

// A matrix, each element rounded to the nearest bf16, in new memory, to be freed with cudaFree. Its
// rows begin `pitch` elements apart.
inline __nv_bfloat16* rounded(const float* A, int rows, int cols, int pitch) {
  __nv_bfloat16* to = nullptr;
  CHECK(cudaMalloc(&to, size_t(rows) * pitch * sizeof(__nv_bfloat16)));
  dim3 block(32, 8), grid(ceil_div(cols, 32), ceil_div(rows, 8));
  round_kernel<<<grid, block>>>(A, to, rows, cols, pitch);
  CHECK(cudaGetLastError());
  return to;
}

// Stores the sums that this lane has of the 16 x 8 elements of P from [row][col] on (lab 10). P: j
// x l.
__device__ inline void store_sums(float* P, int j, int l, int row, int col, const float (&sum)[4]) {
  int lane = threadIdx.x % 32;
  row += lane / 4;
  col += lane % 4 * 2;
  for (int half = 0; half < 2; ++half) {
    const float* two = &sum[2 * half];
    float* to = P + size_t(row + 8 * half) * l + col;
    if (row + 8 * half >= j) continue;
    if (l % 2 == 0 && col < l) {
      *reinterpret_cast<float2*>(to) = make_float2(two[0], two[1]);
    } else {
      if (col < l) to[0] = two[0];
      if (col + 1 < l) to[1] = two[1];
    }
  }
}
