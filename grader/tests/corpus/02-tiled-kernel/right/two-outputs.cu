// Style: each thread owns two rows of a 32 x 32 tile

#include "check.h"

constexpr int T = 32;

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;  // ty 0..15
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  const int half = T / 2;
  float upper = 0.0f, lower = 0.0f;
  for (int first = 0; first < width; first += T) {
    Mds[ty][tx] = M[row * width + first + tx];
    Mds[ty + half][tx] = M[(row + half) * width + first + tx];
    Nds[ty][tx] = N[(first + ty) * width + col];
    Nds[ty + half][tx] = N[(first + ty + half) * width + col];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < T; ++k) {
      upper += Mds[ty][k] * Nds[k][tx];
      lower += Mds[ty + half][k] * Nds[k][tx];
    }
    __syncthreads();
  }
  P[row * width + col] = upper;
  P[(row + half) * width + col] = lower;
}

void solve(const float* M, const float* N, float* P, int width) {
  tiled_kernel<<<dim3(width / T, width / T), dim3(T, T / 2)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
