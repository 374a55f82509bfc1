// 32x32 tiles filled by cp.async, two of them in turn: the next is on its way while this one is
// used. Two results per thread.
#include <cuda_pipeline.h>

#include "unseen.h"
constexpr int T = 32;
__global__ void async_tile(const float* M, const float* N, float* P, int n) {
  __shared__ float m[2][T][T], b[2][T][T];
  int x = threadIdx.x, y = threadIdx.y;  // 32 x 16
  int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  auto fill = [&](int stage, int k0) {
    for (int half = 0; half < T; half += 16) {
      __pipeline_memcpy_async(&m[stage][y + half][x], &M[(row + half) * n + k0 + x], 4);
      __pipeline_memcpy_async(&b[stage][y + half][x], &N[(k0 + y + half) * n + col], 4);
    }
    __pipeline_commit();
  };
  float sum[2] = {};
  fill(0, 0);
  for (int k0 = 0; k0 < n; k0 += T) {
    int stage = k0 / T % 2;
    if (k0 + T < n) {
      fill(1 - stage, k0 + T);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int k = 0; k < T; ++k) {
      float v = b[stage][k][x];
      sum[0] += m[stage][y][k] * v;
      sum[1] += m[stage][y + 16][k] * v;
    }
    __syncthreads();
  }
  P[row * n + col] = sum[0];
  P[(row + 16) * n + col] = sum[1];
}
void solve(const float* M, const float* N, float* P, int n) {
  async_tile<<<dim3(n / T, n / T), dim3(T, 16)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
