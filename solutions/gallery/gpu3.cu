// GPU3: one thread computes 1x4 of P; M, N and P are read and written four elements at a time.
// After Li, Ranka, Sahni, "GPU Matrix Multiplication". Their best block shape: (4, 16).

#include "check.h"

#ifndef BLOCK_X
#define BLOCK_X 4
#define BLOCK_Y 16
#endif

__device__ void add_scaled(float4& sum, float m, float4 n) {
  sum.x += m * n.x;
  sum.y += m * n.y;
  sum.z += m * n.z;
  sum.w += m * n.w;
}

// P = M x N, all n x n, row-major. A block computes BLOCK_Y rows by 4 * BLOCK_X columns of P.
__global__ void gpu3(const float* M, const float* N, float* P, int n) {
  int row = blockIdx.y * BLOCK_Y + threadIdx.y;   // row of M and P
  int quad = blockIdx.x * BLOCK_X + threadIdx.x;  // columns 4 * quad to 4 * quad + 3 of N and P
  const float4* M4 = reinterpret_cast<const float4*>(M);
  const float4* N4 = reinterpret_cast<const float4*>(N);
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int k = 0; k < n; k += 4) {
    float4 m = M4[(row * n + k) / 4];
    add_scaled(sum, m.x, N4[((k + 0) * n) / 4 + quad]);
    add_scaled(sum, m.y, N4[((k + 1) * n) / 4 + quad]);
    add_scaled(sum, m.z, N4[((k + 2) * n) / 4 + quad]);
    add_scaled(sum, m.w, N4[((k + 3) * n) / 4 + quad]);
  }
  reinterpret_cast<float4*>(P)[(row * n) / 4 + quad] = sum;
}

// n: a multiple of 4 * BLOCK_X and BLOCK_Y; another n is refused. Device pointers.
void solve(const float* M, const float* N, float* P, int n) {
  if (n % (4 * BLOCK_X) != 0 || n % BLOCK_Y != 0) {
    CHECK(cudaErrorInvalidValue);
    return;
  }
  gpu3<<<dim3(n / (4 * BLOCK_X), n / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
