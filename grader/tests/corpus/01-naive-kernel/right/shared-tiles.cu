// Style: lab 02 already: tiles in shared memory, with boundary checks

#include "check.h"

constexpr int T = 16;

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0.0f;
  for (int first = 0; first < width; first += T) {
    Mds[ty][tx] = row < width && first + tx < width ? M[row * width + first + tx] : 0.0f;
    Nds[ty][tx] = col < width && first + ty < width ? N[(first + ty) * width + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += Mds[ty][k] * Nds[k][tx];
    __syncthreads();
  }
  if (row < width && col < width) P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t bytes = sizeof(float) * width * width;
  float *d_M, *d_N, *d_P;
  CHECK(cudaMalloc(&d_M, bytes));
  CHECK(cudaMalloc(&d_N, bytes));
  CHECK(cudaMalloc(&d_P, bytes));
  CHECK(cudaMemcpy(d_M, M, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_N, N, bytes, cudaMemcpyHostToDevice));
  dim3 block(T, T), grid((width + T - 1) / T, (width + T - 1) / T);
  tiled_kernel<<<grid, block>>>(d_M, d_N, d_P, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(P, d_P, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_M));
  CHECK(cudaFree(d_N));
  CHECK(cudaFree(d_P));
}
