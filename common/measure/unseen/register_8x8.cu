// 128x128 tiles, 8 deep, 8x8 results per thread, four of them neighbours: vector loads from shared
// memory.
#include "unseen.h"
constexpr int B = 128, D = 8;
__global__ void __launch_bounds__(256)
    register_8x8(const float* M, const float* N, float* P, int n) {
  __shared__ __align__(16) float m[D][B + 4], b[D][B];
  int t = threadIdx.x, tx = t % 16, ty = t / 16;
  int row0 = blockIdx.y * B, col0 = blockIdx.x * B;
  float sum[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += D) {
    float4 v = *reinterpret_cast<const float4*>(&M[(row0 + t / 2) * n + k0 + t % 2 * 4]);
    m[t % 2 * 4 + 0][t / 2] = v.x;
    m[t % 2 * 4 + 1][t / 2] = v.y;
    m[t % 2 * 4 + 2][t / 2] = v.z;
    m[t % 2 * 4 + 3][t / 2] = v.w;
    *reinterpret_cast<float4*>(&b[t / 32][t % 32 * 4]) =
        *reinterpret_cast<const float4*>(&N[(k0 + t / 32) * n + col0 + t % 32 * 4]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < D; ++k) {
      float x[8], y[8];
      *reinterpret_cast<float4*>(&x[0]) = *reinterpret_cast<float4*>(&m[k][ty * 4]);
      *reinterpret_cast<float4*>(&x[4]) = *reinterpret_cast<float4*>(&m[k][64 + ty * 4]);
      *reinterpret_cast<float4*>(&y[0]) = *reinterpret_cast<float4*>(&b[k][tx * 4]);
      *reinterpret_cast<float4*>(&y[4]) = *reinterpret_cast<float4*>(&b[k][64 + tx * 4]);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      P[(row0 + i / 4 * 64 + ty * 4 + i % 4) * n + col0 + j / 4 * 64 + tx * 4 + j % 4] = sum[i][j];
}
void solve(const float* M, const float* N, float* P, int n) {
  register_8x8<<<dim3(n / B, n / B), 256>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
