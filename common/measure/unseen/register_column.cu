// 64x64 tiles, 8 deep, a column of eight results per thread, 512 threads a block.
#include "unseen.h"
constexpr int B = 64, D = 8;
__global__ void register_column(const float* M, const float* N, float* P, int n) {
  __shared__ float m[B][D], b[D][B];
  int t = threadIdx.x, x = t % B, y = t / B;
  int row0 = blockIdx.y * B, col = blockIdx.x * B + x;
  float sum[8] = {};
  for (int k0 = 0; k0 < n; k0 += D) {
    m[t / D][t % D] = M[(row0 + t / D) * n + k0 + t % D];
    b[y][x] = N[(k0 + y) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < D; ++k) {
      float v = b[k][x];
#pragma unroll
      for (int r = 0; r < 8; ++r) sum[r] += m[y * 8 + r][k] * v;
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) P[(row0 + y * 8 + r) * n + col] = sum[r];
}
void solve(const float* M, const float* N, float* P, int n) {
  register_column<<<dim3(n / B, n / B), 512>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
