// tiled matmul, ported from my numpy notebook:
//   for s in range(0, n, B): C[y0:y0+B, x0:x0+B] += A[y0:y0+B, s:s+B] @ B[s:s+B, x0:x0+B]
#include "check.h"

const int B = 16;

__global__ void matmul_tiles(const float* A, const float* Bmat, float* C, int n) {
  __shared__ float a_tile[B * B];
  __shared__ float b_tile[B * B];

  const int lx = threadIdx.x % B;
  const int ly = threadIdx.x / B;
  const int y0 = blockIdx.y * B;
  const int x0 = blockIdx.x * B;
  const int here = ly * B + lx;

  float acc = 0.0f;
  for (int s = 0; s < n; s += B) {
    // A[y0:y0+B, s:s+B] and B[s:s+B, x0:x0+B]
    a_tile[here] = A[(y0 + ly) * n + (s + lx)];
    b_tile[here] = Bmat[(s + ly) * n + (x0 + lx)];
    __syncthreads();

    for (int i = 0; i < B; i++)
      acc += a_tile[ly * B + i] * b_tile[i * B + lx];
    __syncthreads();
  }

  C[(y0 + ly) * n + x0 + lx] = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  int tiles = width / B;
  dim3 grid(tiles, tiles);
  matmul_tiles<<<grid, B * B>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
