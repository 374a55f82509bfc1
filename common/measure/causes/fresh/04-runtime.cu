#include <cuda_runtime.h>

#include <cstdio>

// tile side chosen when the program runs
extern __shared__ float smem[];

__global__ void gemm_rt(const float* A, const float* B, float* C, int m, int k, int n, int side) {
  float* As = smem;
  float* Bs = smem + side * side;
  const int tx = threadIdx.x % side;
  const int ty = threadIdx.x / side;
  const int row = blockIdx.y * side + ty;
  const int col = blockIdx.x * side + tx;
  float c = 0.0f;
  const int steps = (k + side - 1) / side;
  for (int s = 0; s < steps; s++) {
    const int ka = s * side + tx, kb = s * side + ty;
    As[ty * side + tx] = (row < m && ka < k) ? A[(size_t)row * k + ka] : 0.0f;
    Bs[ty * side + tx] = (kb < k && col < n) ? B[(size_t)kb * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < side; i++) c += As[ty * side + i] * Bs[i * side + tx];
    __syncthreads();
  }
  if (row < m && col < n) C[(size_t)row * n + col] = c;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int side = 16;
  int threadsPerBlock = side * side;
  size_t sharedBytes = 2 * side * side * sizeof(float);
  dim3 numBlocks((l + side - 1) / side, (j + side - 1) / side);
  gemm_rt<<<numBlocks, threadsPerBlock, sharedBytes>>>(M, N, P, j, k, l, side);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) fprintf(stderr, "gemm_rt: %s\n", cudaGetErrorString(err));
}
