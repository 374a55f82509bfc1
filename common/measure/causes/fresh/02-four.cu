// Lab 02: tiles of 32 x 32, but only 32 x 8 threads: every thread carries four sums.
#include "check.h"

#define TILE 32
#define STRIPS 4
#define BLOCK_ROWS (TILE / STRIPS)

__global__ void matmul_strips(const float* __restrict__ A, const float* __restrict__ B,
                              float* __restrict__ C, int n) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];

  const int lx = threadIdx.x;
  const int ly = threadIdx.y;
  const int top = blockIdx.y * TILE;
  const int left = blockIdx.x * TILE;

  float c0 = 0, c1 = 0, c2 = 0, c3 = 0;

  for (int t = 0; t < n; t += TILE) {
#pragma unroll
    for (int s = 0; s < TILE; s += BLOCK_ROWS) {
      As[ly + s][lx] = A[(top + ly + s) * n + t + lx];
      Bs[ly + s][lx] = B[(t + ly + s) * n + left + lx];
    }
    __syncthreads();

#pragma unroll
    for (int q = 0; q < TILE; q++) {
      const float b = Bs[q][lx];
      c0 += As[ly][q] * b;
      c1 += As[ly + BLOCK_ROWS][q] * b;
      c2 += As[ly + 2 * BLOCK_ROWS][q] * b;
      c3 += As[ly + 3 * BLOCK_ROWS][q] * b;
    }
    __syncthreads();
  }

  float* dst = C + (top + ly) * n + left + lx;
  dst[0] = c0;
  dst[BLOCK_ROWS * n] = c1;
  dst[2 * BLOCK_ROWS * n] = c2;
  dst[3 * BLOCK_ROWS * n] = c3;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int tiles = width / TILE;
  matmul_strips<<<dim3(tiles, tiles), dim3(TILE, BLOCK_ROWS)>>>(M, N, P, width);
  CHECK(cudaPeekAtLastError());
}
