// Two kernels: M is transposed first, then read along its columns by a register-tiled product.
#include "unseen.h"
constexpr int B = 64, D = 16;
__device__ float scratch[4096 * 4096];
__global__ void transpose(const float* M, int n) {
  __shared__ float tile[32][33];
  int x = threadIdx.x, y = threadIdx.y, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
  for (int i = y; i < 32; i += 8) tile[i][x] = M[(r0 + i) * n + c0 + x];
  __syncthreads();
  for (int i = y; i < 32; i += 8) scratch[(c0 + i) * n + r0 + x] = tile[x][i];
}
__global__ void multiply(const float* N, float* P, int n) {
  __shared__ __align__(16) float m[D][B], b[D][B];
  int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.y * B, col0 = blockIdx.x * B;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += D) {
    *reinterpret_cast<float4*>(&m[ty][tx * 4]) =
        *reinterpret_cast<const float4*>(&scratch[(k0 + ty) * n + row0 + tx * 4]);
    *reinterpret_cast<float4*>(&b[ty][tx * 4]) =
        *reinterpret_cast<const float4*>(&N[(k0 + ty) * n + col0 + tx * 4]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < D; ++k) {
      float4 u = *reinterpret_cast<float4*>(&m[k][ty * 4]),
             v = *reinterpret_cast<float4*>(&b[k][tx * 4]);
      float x[4] = {u.x, u.y, u.z, u.w}, y[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) P[(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = sum[i][j];
}
void solve(const float* M, const float* N, float* P, int n) {
  transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(M, n);
  multiply<<<dim3(n / B, n / B), 256>>>(N, P, n);
  CHECK(cudaGetLastError());
}
