// GPU4: one thread computes one element of P; 16x16 tiles of M and N go through shared memory.
// After Li, Ranka, Sahni, "GPU Matrix Multiplication". Block shape: (16, 16).

#include "gallery.h"

constexpr int TILE = 16;

// P = M x N, all n x n, row-major. A block computes 16 rows by 16 columns of P.
__global__ void gpu4(const float* M, const float* N, float* P, int n) {
  __shared__ float Mds[TILE][TILE];  // [row][k], 1024 bytes
  __shared__ float Nds[TILE][TILE];  // [k][column], 1024 bytes
  int tx = threadIdx.x;              // column in the tile
  int ty = threadIdx.y;              // row in the tile
  int row = blockIdx.y * TILE + ty;
  int col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < n; k0 += TILE) {
    Mds[ty][tx] = M[row * n + k0 + tx];
    Nds[ty][tx] = N[(k0 + ty) * n + col];
    __syncthreads();  // tiles complete before they are used
    for (int k = 0; k < TILE; ++k) {
      sum += Mds[ty][k] * Nds[k][tx];
    }
    __syncthreads();  // tiles used before they are overwritten
  }
  P[row * n + col] = sum;
}

// n: a multiple of 16. Device pointers.
void solve(const float* M, const float* N, float* P, int n) {
  if (!divides_evenly(n, TILE)) return;
  gpu4<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
