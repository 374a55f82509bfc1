#include "check.h"

constexpr int T = 16;

constexpr int safe_side() { return 1; }
constexpr int SAFE = safe_side();

__global__ void hasty_kernel(float* A, int width) {
  __shared__ float tile[SAFE][SAFE];
  int row = blockIdx.y * SAFE + threadIdx.y, col = blockIdx.x * SAFE + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = A[row * width + col];
  A[row * width + col] = tile[threadIdx.x][threadIdx.y];
}

__global__ void turn_kernel(float* A, int width) {
  __shared__ float square[T * (T + 1)];
  float* corner = A + (blockIdx.y * T) * width + blockIdx.x * T;
  int x = threadIdx.x, y = threadIdx.y;
  square[y * (T + 1) + x] = corner[y * width + x];
  __syncthreads();
  corner[y * width + x] = square[x * (T + 1) + y];
}

void solve(float* A, float* S, int width) {
  dim3 many(width / T, width / T), threads(T, T);
  turn_kernel<<<many, threads>>>(A, width);
  CHECK(cudaGetLastError());
  hasty_kernel<<<dim3(width / SAFE, width / SAFE), dim3(SAFE, SAFE)>>>(S, width);
  CHECK(cudaGetLastError());
}
