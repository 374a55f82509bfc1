// Shared tiles of 32x32: 1024 threads a block, two blocks a multiprocessor.
#include "unseen.h"
constexpr int T = 32;
__global__ void tile_32(const float* M, const float* N, float* P, int n) {
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
  tile_32<<<dim3(n / T, n / T), dim3(T, T)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
