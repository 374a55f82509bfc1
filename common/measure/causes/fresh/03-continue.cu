#include "check.h"

enum { B = 16 };

__global__ void mm(const float* u, const float* v, float* w, int n) {
  __shared__ float su[B][B];
  __shared__ float sv[B][B];
  const int i = threadIdx.y, j = threadIdx.x;
  const int y = blockIdx.y * B + i;
  const int x = blockIdx.x * B + j;
  double acc = 0;
  for (int base = 0; base < n; base += B) {
    su[i][j] = sv[i][j] = 0;
    if (y < n && base + j < n) su[i][j] = u[y * n + base + j];
    if (x < n && base + i < n) sv[i][j] = v[(base + i) * n + x];
    __syncthreads();
    for (int e = 0; e < B; ++e) {
      if (base + e >= n) continue;
      acc += su[i][e] * sv[e][j];
    }
    __syncthreads();
  }
  if (y >= n) return;
  if (x >= n) return;
  w[y * n + x] = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  int b = width / B + (width % B != 0);
  dim3 gridDim(b, b, 1);
  dim3 blockDim(B, B, 1);
  mm<<<gridDim, blockDim>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
