// GPU4: one thread computes one element of P; TILE x TILE tiles of M and N go through shared
// memory. After Li, Ranka, Sahni, "GPU Matrix Multiplication". Block shape: (16, 16).

#include "check.h"

#ifndef TILE
#define TILE 16
#endif

// P = M x N, all n x n, row-major. A block computes TILE rows by TILE columns of P.
__global__ void gpu4(const float* M, const float* N, float* P, int n) {
  __shared__ float Mds[TILE][TILE];  // [row][k], 1024 bytes with tiles of 16
  __shared__ float Nds[TILE][TILE];  // [k][column], likewise
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

// n: a multiple of TILE; another n is refused. Device pointers.
void solve(const float* M, const float* N, float* P, int n) {
  if (n % TILE != 0) {
    CHECK(cudaErrorInvalidValue);
    return;
  }
  gpu4<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
