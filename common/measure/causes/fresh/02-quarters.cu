#include "check.h"

// Tiles of 32 x 32, filled by 256 threads in four goes; a thread has four elements of a column.
enum { S = 32, HIGH = 8, GOES = S / HIGH };

__global__ void quarters(const float* __restrict__ a, const float* __restrict__ b,
                         float* __restrict__ c, int n) {
  __shared__ float as[S * S];
  __shared__ float bs[S * S];
  int u = threadIdx.x, v = threadIdx.y;
  int top = blockIdx.y * S, left = blockIdx.x * S;
  float acc[GOES] = {0, 0, 0, 0};

  for (int at = 0; at < n; at += S) {
    for (int g = 0; g < GOES; g++) {
      int w = v + g * HIGH;
      as[w * S + u] = a[(top + w) * n + at + u];
      bs[w * S + u] = b[(at + w) * n + left + u];
    }
    __syncthreads();
    for (int q = 0; q < S; q++) {
      float y = bs[q * S + u];
#pragma unroll
      for (int g = 0; g < GOES; g++) acc[g] += as[(v + g * HIGH) * S + q] * y;
    }
    __syncthreads();
  }
  for (int g = 0; g < GOES; g++) c[(top + v + g * HIGH) * n + left + u] = acc[g];
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 threads(S, HIGH);
  dim3 blocks(width / S, width / S);
  quarters<<<blocks, threads>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
