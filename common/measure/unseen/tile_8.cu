// Shared tiles of 8x8: two warps a block, few uses of each element.
#include "unseen.h"
constexpr int T = 8;
__global__ void tile_8(const float* M, const float* N, float* P, int n) {
  __shared__ float m[T][T], b[T][T];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += T) {
    m[y][x] = M[row * n + k0 + x];
    b[y][x] = N[(k0 + y) * n + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += m[y][k] * b[k][x];
    __syncthreads();
  }
  P[row * n + col] = sum;
}
void solve(const float* M, const float* N, float* P, int n) {
  tile_8<<<dim3(n / T, n / T), dim3(T, T)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
