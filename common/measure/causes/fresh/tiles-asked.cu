#include "check.h"

__global__ void dynamic(const float* M, const float* N, float* P, int width) {
  extern __shared__ float both[];
  int t = blockDim.x;
  float* ours = both;
  float* theirs = both + t * t;
  int r = blockIdx.y * t + threadIdx.y;
  int c = blockIdx.x * t + threadIdx.x;
  int mine = threadIdx.y * t + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < width; start += t) {
    ours[mine] = M[r * width + start + threadIdx.x];
    theirs[mine] = N[(start + threadIdx.y) * width + c];
    __syncthreads();
    for (int i = 0; i < t; i++) sum += ours[threadIdx.y * t + i] * theirs[i * t + threadIdx.x];
    __syncthreads();
  }
  P[r * width + c] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  int t = 1;
  while (4 * t * t <= prop.maxThreadsPerBlock && 2 * 4 * t * t * sizeof(float) <= prop.sharedMemPerBlock) t *= 2;
  dim3 block(t, t);
  dim3 grid(width / t, width / t);
  dynamic<<<grid, block, 2 * t * t * sizeof(float)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
