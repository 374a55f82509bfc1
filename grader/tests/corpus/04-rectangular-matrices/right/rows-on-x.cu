// Style: blocks numbered along one dimension, so that the number of rows is not limited

#include "check.h"

constexpr int T = 16;

__global__ void rect_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float Mds[T][T];
  __shared__ float Nds[T][T];
  int across = (l + T - 1) / T;  // blocks side by side
  int tx = threadIdx.x % T, ty = threadIdx.x / T;
  int row = blockIdx.x / across * T + ty;
  int col = blockIdx.x % across * T + tx;
  float sum = 0.0f;
  for (int i = 0; i < k; i += T) {
    Mds[ty][tx] = row < j && i + tx < k ? M[size_t(row) * k + i + tx] : 0.0f;
    Nds[ty][tx] = i + ty < k && col < l ? N[size_t(i + ty) * l + col] : 0.0f;
    __syncthreads();
    for (int q = 0; q < T; ++q) sum += Mds[ty][q] * Nds[q][tx];
    __syncthreads();
  }
  if (row < j && col < l) P[size_t(row) * l + col] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int blocks = ((l + T - 1) / T) * ((j + T - 1) / T);
  rect_kernel<<<blocks, T * T>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
