// Style: tiles filled by asynchronous copies

#include <cuda_pipeline.h>

#include "check.h"

constexpr int T = 16;

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0.0f;
  for (int first = 0; first < width; first += T) {
    __pipeline_memcpy_async(&Mds[ty][tx], &M[row * width + first + tx], 4);
    __pipeline_memcpy_async(&Nds[ty][tx], &N[(first + ty) * width + col], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += Mds[ty][k] * Nds[k][tx];
    __syncthreads();
  }
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  tiled_kernel<<<dim3(width / T, width / T), dim3(T, T)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
