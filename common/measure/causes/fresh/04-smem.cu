#include "check.h"

#define TILE 16

// C (m x n) = A (m x k) * B (k x n)
__global__ void gemm(const float* A, const float* B, float* C, int m, int k, int n) {
  extern __shared__ float smem[];
  float* tileA = smem;
  float* tileB = smem + TILE * TILE;

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty;
  const int col = blockIdx.x * TILE + tx;
  const int numTiles = (k + TILE - 1) / TILE;

  float acc = 0.f;
  for (int t = 0; t < numTiles; t++) {
    const int aCol = t * TILE + tx;
    const int bRow = t * TILE + ty;
    float av = 0.f, bv = 0.f;
    if (row < m && aCol < k) av = A[row * k + aCol];
    if (bRow < k && col < n) bv = B[bRow * n + col];
    tileA[ty * TILE + tx] = av;
    tileB[ty * TILE + tx] = bv;
    __syncthreads();
    for (int p = 0; p < TILE; p++) acc += tileA[ty * TILE + p] * tileB[p * TILE + tx];
    __syncthreads();
  }
  if (row < m && col < n) C[row * n + col] = acc;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 block(TILE, TILE);
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  size_t shmem = 2 * TILE * TILE * sizeof(float);
  gemm<<<grid, block, shmem>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
