#include "check.h"

constexpr int TR = 32, TI = 8, TC = 8;

inline unsigned up(int a, int b) { return (a + b - 1) / b; }

// block of 8 x 32: a tile of M of 32 x 8, and one of N of 8 x 8 that the first 64 threads fill
__global__ void rect(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float m[TR][TI];
  __shared__ float n[TI][TC];
  int x = threadIdx.x, y = threadIdx.y;
  size_t row = size_t(blockIdx.y) * TR + y, col = size_t(blockIdx.x) * TC + x;
  float sum = 0.f;
  for (int t = 0; t * TI < k; ++t) {
    int from = t * TI;
    m[y][x] = (row < j && from + x < k) ? M[row * k + from + x] : 0.f;
    if (y < TI) n[y][x] = (from + y < k && col < l) ? N[(from + y) * size_t(l) + col] : 0.f;
    __syncthreads();
    for (int i = 0; i < TI; ++i) sum += m[y][i] * n[i][x];
    __syncthreads();
  }
  if (row < j && col < l) P[row * l + col] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  rect<<<dim3(up(l, TC), up(j, TR)), dim3(TC, TR)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
