#include "check.h"

template <const int BS>
__global__ void sgemm_shared_block(int N, const float* A, const float* B, float* C) {
  const int blockRow = blockIdx.y;
  const int blockCol = blockIdx.x;

  __shared__ float sA[BS * BS];
  __shared__ float sB[BS * BS];

  const int tCol = threadIdx.x % BS;
  const int tRow = threadIdx.x / BS;

  // move the pointers to the first tiles
  A += blockRow * BS * N;
  B += blockCol * BS;
  C += blockRow * BS * N + blockCol * BS;

  float tmp = 0.0f;
  for (int bk = 0; bk < N; bk += BS) {
    sA[tRow * BS + tCol] = A[tRow * N + tCol];
    sB[tRow * BS + tCol] = B[tRow * N + tCol];
    __syncthreads();
    A += BS;
    B += BS * N;

    for (int d = 0; d < BS; ++d) {
      tmp += sA[tRow * BS + d] * sB[d * BS + tCol];
    }
    __syncthreads();
  }
  C[tRow * N + tCol] = tmp;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 gridDim(width / 32, width / 32);
  dim3 blockDim(32 * 32);
  sgemm_shared_block<32><<<gridDim, blockDim>>>(width, M, N, P);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) printf("launch failed: %s\n", cudaGetErrorString(err));
}
