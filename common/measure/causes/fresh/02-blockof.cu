#include "check.h"

#define TILE 16

struct Shared {
  float left[TILE][TILE];
  float right[TILE][TILE];
};

__device__ void loadBoth(Shared& s, const float* M, const float* N, int phase, int width) {
  int i = threadIdx.y, j = threadIdx.x;
  int r = blockIdx.y * TILE + i, c = blockIdx.x * TILE + j;
  s.left[i][j] = M[r * width + phase * TILE + j];
  s.right[i][j] = N[(phase * TILE + i) * width + c];
}

__device__ void addBoth(const Shared& s, float& sum) {
  for (int k = 0; k < TILE; k++) sum += s.left[threadIdx.y][k] * s.right[k][threadIdx.x];
}

__global__ void MatMul(const float* M, const float* N, float* P, int width) {
  __shared__ Shared s;
  float sum = 0.0f;
  int phases = width / TILE;
  for (int phase = 0; phase < phases; phase++) {
    loadBoth(s, M, N, phase, width);
    __syncthreads();
    addBoth(s, sum);
    __syncthreads();
  }
  P[(blockIdx.y * TILE + threadIdx.y) * width + blockIdx.x * TILE + threadIdx.x] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 threads = dim3(TILE, TILE);
  dim3 blocks = dim3(width / threads.x, width / threads.y);
  MatMul<<<blocks, threads>>>(M, N, P, width);
  CHECK(cudaDeviceSynchronize());
}
