#include "check.h"

template <int TILE, int ROWS>
__global__ void tall(const float* M, const float* N, float* P, int j, int k, int l) {
  // A thread has ROWS elements of P under one another, TILE / ROWS apart.
  constexpr int STEP = TILE / ROWS;
  __shared__ float m[TILE * TILE], n[TILE * TILE];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const size_t col = blockIdx.x * TILE + x;
  const size_t first = blockIdx.y * TILE + y;
  float sums[ROWS];
  for (int i = 0; i < ROWS; i++) sums[i] = 0;
  for (int at = 0; at < k; at += TILE) {
    for (int i = 0; i < ROWS; i++) {
      const unsigned yy = y + i * STEP;
      m[yy * TILE + x] = first + i * STEP < j && at + x < k ? M[(first + i * STEP) * k + at + x] : 0.f;
      n[yy * TILE + x] = at + yy < k && col < l ? N[(size_t)(at + yy) * l + col] : 0.f;
    }
    __syncthreads();
    for (int e = 0; e < TILE; e++) {
      float right = n[e * TILE + x];
      for (int i = 0; i < ROWS; i++) sums[i] += m[(y + i * STEP) * TILE + e] * right;
    }
    __syncthreads();
  }
  if (col >= l) return;
  for (int i = 0; i < ROWS; i++)
    if (first + i * STEP < j) P[(first + i * STEP) * l + col] = sums[i];
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  enum { TILE = 16, ROWS = 4 };
  dim3 grid;
  grid.x = (l + TILE - 1) / TILE;
  grid.y = (j + TILE - 1) / TILE;
  tall<TILE, ROWS><<<grid, dim3(TILE, TILE / ROWS)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
