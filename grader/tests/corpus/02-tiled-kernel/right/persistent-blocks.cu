// Style: a fixed number of blocks, each working through many tiles of P

#include "check.h"

constexpr int T = 16;

__device__ float tile_sum(const float* M, const float* N, int width, int row, int col) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0.0f;
  for (int first = 0; first < width; first += T) {
    Mds[ty][tx] = M[row * width + first + tx];
    Nds[ty][tx] = N[(first + ty) * width + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += Mds[ty][k] * Nds[k][tx];
    __syncthreads();
  }
  return sum;
}

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
  int tiles = width / T;
  for (int tile = blockIdx.x; tile < tiles * tiles; tile += gridDim.x) {
    int row = tile / tiles * T + threadIdx.y;
    int col = tile % tiles * T + threadIdx.x;
    P[row * width + col] = tile_sum(M, N, width, row, col);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  tiled_kernel<<<1056, dim3(T, T)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
