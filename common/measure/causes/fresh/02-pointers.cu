#include "check.h"

#define T 16
#define IDX(r, c, ld) ((r) * (ld) + (c))

__global__ void mm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ float buf[2 * T * T];
  float* a = buf;
  float* b = &buf[T * T];
  const int x = threadIdx.x, y = threadIdx.y;
  const float* gA = A + (blockIdx.y * T + y) * n + x;
  const float* gB = B + y * n + blockIdx.x * T + x;
  float r = 0;
  for (int left = n; left > 0; left -= T) {
    a[IDX(y, x, T)] = *gA;
    b[IDX(y, x, T)] = *gB;
    gA += T;
    gB += T * n;
    __syncthreads();
    for (int i = 0; i < T; i++) r += a[IDX(y, i, T)] * b[IDX(i, x, T)];
    __syncthreads();
  }
  C[IDX(blockIdx.y * T + y, blockIdx.x * T + x, n)] = r;
}

void solve(const float* M, const float* N, float* P, int width) {
  mm<<<dim3(width / T, width / T), dim3(T, T)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
