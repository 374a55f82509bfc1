// Naive with 16384 bytes of shared memory that nobody needs: few warps are resident, so that
// latency is not hidden.
#include "unseen.h"
__global__ void few_warps(const float* M, const float* N, float* P, int n) {
  extern __shared__ float room[];
  int row = blockIdx.y * 2 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  room[threadIdx.x] = 0;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += M[row * n + k] * N[k * n + col];
  P[row * n + col] = sum + room[threadIdx.x];
}
void solve(const float* M, const float* N, float* P, int n) {
  few_warps<<<dim3(n / 32, n / 2), dim3(32, 2), 40000>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
