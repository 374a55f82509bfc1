#include "check.h"

constexpr int T = 16;

__global__ void tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float a[T][T], b[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;

  auto meet = [] { __syncthreads(); };
  auto fetch = [&](int first) {
    a[y][x] = A[row * n + first + x];
    b[y][x] = B[(first + y) * n + col];
  };
  auto dot = [&] {
    float part = 0.0f;
    for (int i = 0; i < T; ++i) part += a[y][i] * b[i][x];
    return part;
  };

  float total = 0.0f;
  for (int first = 0; first < n; first += T) {
    fetch(first);
    meet();
    total += dot();
    meet();
  }
  C[row * n + col] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  auto blocks = [width](int side) { return unsigned(width / side); };
  tiled<<<dim3(blocks(T), blocks(T)), dim3(T, T)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
