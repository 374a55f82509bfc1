// Register tiling, 64 x 64 per block, 8 deep, a flat block of 256 threads.
#include "check.h"

constexpr int BLOCK = 64;
constexpr int DEPTH = 8;
constexpr int PATCH = 4;
constexpr int SIDE = BLOCK / PATCH;  // 16 threads along each side
constexpr int NT = SIDE * SIDE;

struct Shape { int j, k, l; };

__device__ float safe(const float* a, int rows, int cols, int r, int c) {
  if (r >= rows || c >= cols) return 0.0f;
  return a[(size_t)r * cols + c];
}

__global__ void patches(const float* M, const float* N, float* P, Shape s) {
  __shared__ float left[DEPTH][BLOCK];
  __shared__ float right[DEPTH][BLOCK];

  const int t = threadIdx.x;
  const int px = t % SIDE;
  const int py = t / SIDE;
  const int row0 = blockIdx.y * BLOCK;
  const int col0 = blockIdx.x * BLOCK;

  float acc[PATCH * PATCH];
#pragma unroll
  for (int q = 0; q < PATCH * PATCH; ++q) acc[q] = 0.0f;

  for (int base = 0; base < s.k; base += DEPTH) {
#pragma unroll
    for (int turn = 0; turn < BLOCK * DEPTH / NT; ++turn) {
      int e = turn * NT + t;
      left[e % DEPTH][e / DEPTH] = safe(M, s.j, s.k, row0 + e / DEPTH, base + e % DEPTH);
      right[e / BLOCK][e % BLOCK] = safe(N, s.k, s.l, base + e / BLOCK, col0 + e % BLOCK);
    }
    __syncthreads();

#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      float u[PATCH], v[PATCH];
#pragma unroll
      for (int q = 0; q < PATCH; ++q) {
        u[q] = left[d][py * PATCH + q];
        v[q] = right[d][px + q * SIDE];
      }
#pragma unroll
      for (int q = 0; q < PATCH * PATCH; ++q) acc[q] += u[q / PATCH] * v[q % PATCH];
    }
    __syncthreads();
  }

#pragma unroll
  for (int q = 0; q < PATCH * PATCH; ++q) {
    int r = row0 + py * PATCH + q / PATCH;
    int c = col0 + px + q % PATCH * SIDE;
    if (r < s.j && c < s.l) P[(size_t)r * s.l + c] = acc[q];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Shape s{j, k, l};
  int across = (l + BLOCK - 1) / BLOCK;
  int down = (j + BLOCK - 1) / BLOCK;
  patches<<<dim3(across, down), NT>>>(M, N, P, s);
  CHECK(cudaGetLastError());
}
