// The tile of N kept transposed without padding: 16-way bank conflicts on every read.
#include "unseen.h"
constexpr int T = 16;
__global__ void conflicting_tile(const float* M, const float* N, float* P, int n) {
  __shared__ float m[T][T], b[T][T];  // b[column][k]
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += T) {
    m[y][x] = M[row * n + k0 + x];
    b[x][y] = N[(k0 + y) * n + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += m[y][k] * b[x][k];
    __syncthreads();
  }
  P[row * n + col] = sum;
}
void solve(const float* M, const float* N, float* P, int n) {
  conflicting_tile<<<dim3(n / T, n / T), dim3(T, T)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
