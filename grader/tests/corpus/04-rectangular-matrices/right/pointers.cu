// Style: pointers that walk along the tiles, one guard per thread and phase

#include "check.h"

constexpr int T = 16;

__global__ void rect_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float Mds[T][T], Nds[T][T];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  const float* m = M + (long long)row * k + tx;
  const float* n = N + (long long)ty * l + col;
  float sum = 0.0f;
  for (int left = k; left > 0; left -= T, m += T, n += (long long)T * l) {
    Mds[ty][tx] = (row < j && tx < left) ? *m : 0.0f;
    Nds[ty][tx] = (col < l && ty < left) ? *n : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += Mds[ty][i] * Nds[i][tx];
    __syncthreads();
  }
  if (row < j && col < l) P[(long long)row * l + col] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  rect_kernel<<<dim3((l + T - 1) / T, (j + T - 1) / T), dim3(T, T)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
