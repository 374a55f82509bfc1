#include "check.h"

int tile_side() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  int t = 32;
  while (t * t > p.maxThreadsPerBlock || 2 * t * t * sizeof(float) > p.sharedMemPerBlock) t >>= 1;
  return t;
}

__device__ float dot(const float* row, const float* col, int n) {
  float d = 0;
  for (const float* end = row + n; row < end; row++, col += n) d += *row * *col;
  return d;
}

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width, int T) {
  extern __shared__ float pool[];
  float* ms = &pool[0];
  float* ns = &pool[T * T];
  const int own = threadIdx.y * T + threadIdx.x;
  const float* m = M + (blockIdx.y * T + threadIdx.y) * width + threadIdx.x;
  const float* n = N + threadIdx.y * width + blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < width; k += T) {
    ms[own] = m[k];
    ns[own] = n[k * width];
    __syncthreads();
    sum += dot(ms + threadIdx.y * T, ns + threadIdx.x, T);
    __syncthreads();
  }
  P[(blockIdx.y * T + threadIdx.y) * width + blockIdx.x * T + threadIdx.x] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  int T = tile_side();
  tiled_kernel<<<dim3(width / T, width / T), dim3(T, T), 2 * T * T * sizeof(float)>>>(M, N, P, width, T);
  CHECK(cudaGetLastError());
}
