// Qu Min. Two buffers: next elements are fetched into registers while the present tile is used.
#include "check.h"

static const int W = 16;

__device__ inline float pick(const float* A, int y, int x, int n) {
  float v = 0;
  if (y < n && x < n) v = A[y * n + x];
  return v;
}

__global__ void pingpong(const float* M, const float* N, float* P, int n, int steps) {
  __shared__ float bufM[2][W][W], bufN[2][W][W];
  int x = threadIdx.x, y = threadIdx.y;
  int gy = blockIdx.y * W + y;
  int gx = blockIdx.x * W + x;

  bufM[0][y][x] = pick(M, gy, x, n);
  bufN[0][y][x] = pick(N, y, gx, n);
  __syncthreads();

  int cur = 0;
  float s = 0;
  for (int step = 1; step <= steps; step++) {
    float nextM = 0, nextN = 0;
    if (step < steps) {
      nextM = pick(M, gy, step * W + x, n);
      nextN = pick(N, step * W + y, gx, n);
    }
    for (int k = 0; k < W; k++) s += bufM[cur][y][k] * bufN[cur][k][x];

    int other = 1 - cur;
    bufM[other][y][x] = nextM;
    bufN[other][y][x] = nextN;
    __syncthreads();
    cur = other;
  }

  if (gy >= n || gx >= n) return;
  P[gy * n + gx] = s;
}

void solve(const float* M, const float* N, float* P, int width) {
  int steps = 1 + (width - 1) / W;
  dim3 b(W, W, 1);
  dim3 g(steps, steps, 1);
  pingpong<<<g, b>>>(M, N, P, width, steps);
  cudaError_t rc = cudaGetLastError();
  if (rc != cudaSuccess) CHECK(rc);
}
