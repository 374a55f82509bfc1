#include "check.h"

constexpr int TILE = 16;
using Tile = float[TILE][TILE];

// Puts one tile of a w x w matrix into shared memory and waits for everybody.
__device__ void stage(Tile& to, const float* from, int row, int col, int w) {
  const bool there = row < w && col < w;
  to[threadIdx.y][threadIdx.x] = there ? from[row * w + col] : 0.0f;
  __syncthreads();
}

// What this pair of tiles adds to the thread's element.
__device__ float product(const Tile& left, const Tile& right) {
  float part = 0.0f;
  for (int i = 0; i < TILE; ++i) part += left[threadIdx.y][i] * right[i][threadIdx.x];
  __syncthreads();
  return part;
}

__global__ void mul(const float* M, const float* N, float* P, int w) {
  __shared__ Tile left, right;
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  float total = 0.0f;
  for (int at = 0; at < w; at += TILE) {
    stage(left, M, row, at + threadIdx.x, w);
    stage(right, N, at + threadIdx.y, col, w);
    total += product(left, right);
  }
  if (row < w && col < w) P[row * w + col] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int tiles = (width - 1) / TILE + 1;
  mul<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
