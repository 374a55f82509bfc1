#include "check.h"

constexpr int W = 8;

__global__ void tiles(const float* lhs, const float* rhs, float* out, int size) {
  __shared__ float left[W][W], right[W][W];
  const int lx = threadIdx.x, ly = threadIdx.y;
  const int gx = blockIdx.x * W + lx, gy = blockIdx.y * W + ly;
  const bool inRow = gy < size;
  const bool inCol = gx < size;

  float total = 0.0f;
  int steps = size / W + (size % W != 0);
  for (int s = 0; s < steps; ++s) {
    const int lc = s * W + lx;
    const int rr = s * W + ly;
    left[ly][lx] = inRow && lc < size ? lhs[gy * size + lc] : 0.0f;
    right[ly][lx] = inCol && rr < size ? rhs[rr * size + gx] : 0.0f;
    __syncthreads();
    for (int e = 0; e < W; ++e) total += left[ly][e] * right[e][lx];
    __syncthreads();
  }
  if (inRow && inCol) out[gy * size + gx] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  int blocks = (width + W - 1) / W;
  tiles<<<dim3(blocks, blocks), dim3(W, W)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
