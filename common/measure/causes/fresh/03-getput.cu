#include "check.h"

static const int W = 16;

__device__ inline float get(const float* x, int n, int r, int c) {
  if (r >= n || c >= n) return 0.0f;
  return x[r * n + c];
}

__device__ inline void put(float* x, int n, int r, int c, float value) {
  if (r < n && c < n) x[r * n + c] = value;
}

// 256 threads in one row
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float s[2][W * W];
  int id = threadIdx.x;
  int dy = id / W, dx = id - dy * W;
  int r = blockIdx.y * W + dy;
  int q = blockIdx.x * W + dx;
  int turns = (n + W - 1) / W;
  float z = 0;
  for (int t = 0; t != turns; ++t) {
    s[0][id] = get(a, n, r, t * W + dx);
    s[1][id] = get(b, n, t * W + dy, q);
    __syncthreads();
    const float* x = s[0] + dy * W;
    const float* y = s[1] + dx;
    for (int e = 0; e < W; ++e) z += x[e] * y[e * W];
    __syncthreads();
  }
  put(c, n, r, q, z);
}

void solve(const float* M, const float* N, float* P, int width) {
  int side = (width - 1) / W + 1;
  matmul<<<dim3(side, side), W * W>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
