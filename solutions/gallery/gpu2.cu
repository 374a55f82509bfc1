// GPU2: one thread computes 1x2 of P. M is read four elements at a time, N and P two at a time, so
// that a half warp's request fills larger transactions.
// After Li, Ranka, Sahni, "GPU Matrix Multiplication". Their best block shape: (8, 8).

#include "check.h"

#ifndef BLOCK_X
#define BLOCK_X 8
#define BLOCK_Y 8
#endif

// P = M x N, all n x n, row-major. A block computes BLOCK_Y rows by 2 * BLOCK_X columns of P.
__global__ void gpu2(const float* M, const float* N, float* P, int n) {
  int row = blockIdx.y * BLOCK_Y + threadIdx.y;   // row of M and P
  int pair = blockIdx.x * BLOCK_X + threadIdx.x;  // columns 2 * pair and 2 * pair + 1 of N and P
  const float4* M4 = reinterpret_cast<const float4*>(M);
  const float2* N2 = reinterpret_cast<const float2*>(N);
  float2 sum = {0.0f, 0.0f};
  for (int k = 0; k < n; k += 4) {
    float4 m = M4[(row * n + k) / 4];
    float2 n0 = N2[((k + 0) * n) / 2 + pair];
    float2 n1 = N2[((k + 1) * n) / 2 + pair];
    float2 n2 = N2[((k + 2) * n) / 2 + pair];
    float2 n3 = N2[((k + 3) * n) / 2 + pair];
    sum.x += m.x * n0.x + m.y * n1.x + m.z * n2.x + m.w * n3.x;
    sum.y += m.x * n0.y + m.y * n1.y + m.z * n2.y + m.w * n3.y;
  }
  reinterpret_cast<float2*>(P)[(row * n) / 2 + pair] = sum;
}

// n: a multiple of 2 * BLOCK_X, BLOCK_Y and 4; another n is refused. Device pointers.
void solve(const float* M, const float* N, float* P, int n) {
  if (n % (2 * BLOCK_X) != 0 || n % BLOCK_Y != 0 || n % 4 != 0) {
    CHECK(cudaErrorInvalidValue);
    return;
  }
  gpu2<<<dim3(n / (2 * BLOCK_X), n / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
