// GPU7: GPU6 with four elements of N in flight. The load of the element needed four steps later is
// issued before the current one is used, so that its latency passes behind arithmetic.
// After Li, Ranka, Sahni, "GPU Matrix Multiplication". Block shape: (16, 8).

#include "check.h"

#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif

constexpr int ROWS = 16;               // rows of P per block and per thread
constexpr int COLUMNS = 16 * BLOCK_Y;  // columns of P per block: one per thread
constexpr int DEPTH = 32;              // columns of M per tile
constexpr int IN_FLIGHT = 4;           // elements of N requested ahead of their use

// Loads M[row0 .. row0+15][k0 .. k0+31] as [k][row]. A half warp reads one row as 16 float2: 128
// bytes.
__device__ void load_tile(float (*Mds)[ROWS + 1], const float* M, int row0, int k0, int n) {
  for (int r = threadIdx.y; r < ROWS; r += BLOCK_Y) {
    float2 m = reinterpret_cast<const float2*>(M + (row0 + r) * n + k0)[threadIdx.x];
    Mds[2 * threadIdx.x][r] = m.x;
    Mds[2 * threadIdx.x + 1][r] = m.y;
  }
}

// P = M x N, all n x n, row-major. A block computes 16 rows by 16 * BLOCK_Y columns of P.
__global__ void gpu7(const float* M, const float* N, float* P, int n) {
  __shared__ float Mds[DEPTH][ROWS + 1];  // [k][row], 2176 bytes
  int row0 = blockIdx.y * ROWS;
  int col = blockIdx.x * COLUMNS + threadIdx.y * 16 + threadIdx.x;
  float sum[ROWS] = {};
  for (int k0 = 0; k0 < n; k0 += DEPTH) {
    load_tile(Mds, M, row0, k0, n);
    float next[IN_FLIGHT];  // next[i]: the element for the next step k with k % 4 == i
    for (int i = 0; i < IN_FLIGHT; ++i) {
      next[i] = N[(k0 + i) * n + col];
    }
    __syncthreads();  // tile complete before it is used
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float value = next[k % IN_FLIGHT];
      if (k + IN_FLIGHT < DEPTH) {
        next[k % IN_FLIGHT] = N[(k0 + k + IN_FLIGHT) * n + col];
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        sum[r] += Mds[k][r] * value;  // all lanes read one word: a broadcast
      }
    }
    __syncthreads();  // tile used before it is overwritten
  }
  for (int r = 0; r < ROWS; ++r) {
    P[(row0 + r) * n + col] = sum[r];
  }
}

// n: a multiple of COLUMNS and DEPTH; another n is refused. Device pointers.
void solve(const float* M, const float* N, float* P, int n) {
  if (n % COLUMNS != 0 || n % DEPTH != 0) {
    CHECK(cudaErrorInvalidValue);
    return;
  }
  gpu7<<<dim3(n / COLUMNS, n / ROWS), dim3(16, BLOCK_Y)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
