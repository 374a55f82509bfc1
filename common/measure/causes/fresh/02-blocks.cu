#include "check.h"
// like numpy: P[I, J] = sum over K of M[I, K] @ N[K, J], all of them blocks of 32 x 32

template <int B>
struct Block {
  float v[B][B];

  // v[:, :] = A[r0:r0+B, c0:c0+B], 8 rows of threads, so each copies B / 8 elements
  __device__ void fetch(const float* A, int width, int r0, int c0) {
    for (int y = threadIdx.y; y < B; y += blockDim.y) {
      v[y][threadIdx.x] = A[(r0 + y) * width + c0 + threadIdx.x];
    }
  }
};

template <int B, int STEP>
__global__ void matmul_blocks(const float* M, const float* N, float* P, int width) {
  __shared__ Block<B> m;
  __shared__ Block<B> n;
  constexpr int EACH = B / STEP;  // results of one thread, STEP rows apart
  float acc[EACH];
  for (int e = 0; e < EACH; ++e) acc[e] = 0.0f;

  const int r0 = blockIdx.y * B;
  const int c0 = blockIdx.x * B;
  const int x = threadIdx.x;

  for (int k0 = 0; k0 < width; k0 += B) {
    m.fetch(M, width, r0, k0);
    n.fetch(N, width, k0, c0);
    __syncthreads();
    for (int q = 0; q < B; ++q) {
      const float right = n.v[q][x];
#pragma unroll
      for (int e = 0; e < EACH; ++e) acc[e] += m.v[threadIdx.y + e * STEP][q] * right;
    }
    __syncthreads();
  }

#pragma unroll
  for (int e = 0; e < EACH; ++e) {
    P[(r0 + threadIdx.y + e * STEP) * width + c0 + x] = acc[e];
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int B = 32, STEP = 8;
  const dim3 shape(B, STEP);
  const dim3 blocks(width / B, width / B);
  matmul_blocks<B, STEP><<<blocks, shape>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
