// GPU5: GPU4 with the tile of N kept transposed, so that a thread walks along a row of both tiles.
// One word of padding per row keeps the column-wise accesses of a half warp in 16 different banks.
// After Li, Ranka, Sahni, "GPU Matrix Multiplication". Block shape: (16, 16).

#include "check.h"

#ifndef TILE
#define TILE 16
#endif

// P = M x N, all n x n, row-major. A block computes TILE rows by TILE columns of P.
__global__ void gpu5(const float* M, const float* N, float* P, int n) {
  __shared__ float Mds[TILE][TILE];      // [row][k], 1024 bytes with tiles of 16
  __shared__ float Nds[TILE][TILE + 1];  // [column][k], 1088 bytes
  int tx = threadIdx.x;                  // column in the tile
  int ty = threadIdx.y;                  // row in the tile
  int row = blockIdx.y * TILE + ty;
  int col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < n; k0 += TILE) {
    Mds[ty][tx] = M[row * n + k0 + tx];
    Nds[tx][ty] = N[(k0 + ty) * n + col];
    __syncthreads();  // tiles complete before they are used
    for (int k = 0; k < TILE; ++k) {
      sum += Mds[ty][k] * Nds[tx][k];
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
  gpu5<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
