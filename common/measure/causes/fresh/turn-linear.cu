#include "check.h"

constexpr int T = 16;
constexpr int SAFE = 1;
constexpr int PITCH = T + 1;

__global__ void hasty_kernel(float* A, int width) {
  __shared__ float tile[SAFE][SAFE];
  int row = blockIdx.y * SAFE + threadIdx.y, col = blockIdx.x * SAFE + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = A[row * width + col];
  A[row * width + col] = tile[threadIdx.x][threadIdx.y];
}

__global__ void turn_kernel(float* A, int width) {
  __shared__ float buffer[T * PITCH];
  float* square = A + blockIdx.y * T * width + blockIdx.x * T;
  int r = threadIdx.x / T, c = threadIdx.x % T;
  buffer[r * PITCH + c] = square[r * width + c];
  __syncthreads();
  square[r * width + c] = buffer[c * PITCH + r];
}

void solve(float* A, float* S, int width) {
  dim3 squares(width / T, width / T);
  turn_kernel<<<squares, T * T>>>(A, width);
  CHECK(cudaGetLastError());
  hasty_kernel<<<dim3(width / SAFE, width / SAFE), dim3(SAFE, SAFE)>>>(S, width);
  CHECK(cudaGetLastError());
}
