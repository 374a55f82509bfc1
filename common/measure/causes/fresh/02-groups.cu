#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int EDGE = 16;

__device__ float dot(const float (&a)[EDGE][EDGE], const float (&b)[EDGE][EDGE], int r, int c) {
  float z = 0.0f;
  for (int i = 0; i < EDGE; ++i) z += a[r][i] * b[i][c];
  return z;
}

__global__ void grouped(const float* A, const float* B, float* C, int n) {
  auto block = cg::this_thread_block();
  __shared__ float a[EDGE][EDGE], b[EDGE][EDGE];
  const int r = threadIdx.y, c = threadIdx.x;
  const int row = blockIdx.y * EDGE + r, col = blockIdx.x * EDGE + c;
  auto at = [n](int y, int x) { return y * n + x; };
  float sum = 0.0f;
  for (int tile = 0; tile < n; tile += EDGE) {
    a[r][c] = A[at(row, tile + c)];
    b[r][c] = B[at(tile + r, col)];
    block.sync();
    sum += dot(a, b, r, c);
    block.sync();
  }
  C[at(row, col)] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 block{EDGE, EDGE};
  dim3 grid(width / block.x, width / block.y);
  grouped<<<grid, block>>>(M, N, P, width);
}
