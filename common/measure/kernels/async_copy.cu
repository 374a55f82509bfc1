// cp.async in two stages, 4, 8 and 16 bytes a lane.
#include <cuda_pipeline.h>

__global__ void async_copy(const float* M, const float* N, float* P, int n) {
  __shared__ __align__(16) float stage[2][128 * 4];
  int count = n * n, t = threadIdx.x;
  int first = blockIdx.x * 512;
  auto load = [&](int s, const float* source) {
    int at = first + t * 4;
    if (at + 4 <= count) {
      if (t < 64) {
        __pipeline_memcpy_async(&stage[s][t * 4], source + at, 16);
      } else if (t < 96) {
        __pipeline_memcpy_async(&stage[s][t * 4], source + at, 8);
        __pipeline_memcpy_async(&stage[s][t * 4 + 2], source + at + 2, 8);
      } else {
        for (int k = 0; k < 4; ++k) __pipeline_memcpy_async(&stage[s][t * 4 + k], source + at + k, 4);
      }
    }
    __pipeline_commit();
  };
  load(0, M);
  load(1, N);
  float sum[4];
  __pipeline_wait_prior(1);
  __syncthreads();
  for (int k = 0; k < 4; ++k) sum[k] = stage[0][t + 128 * k];
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    int i = first + t + 128 * k;
    if (i < count) P[i] = sum[k] - stage[1][t + 128 * k];
  }
}

void solve(const float* M, const float* N, float* P, int n) {
  async_copy<<<(n * n + 511) / 512, 128>>>(M, N, P, n);
}
