// Style: tile width from the device properties, both tiles in one extern array

#include "check.h"

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width, int tile) {
  extern __shared__ float tiles[];
  float* Mds = tiles;
  float* Nds = tiles + tile * tile;
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;
  float sum = 0.0f;
  for (int first = 0; first < width; first += tile) {
    Mds[ty * tile + tx] = M[row * width + first + tx];
    Nds[ty * tile + tx] = N[(first + ty) * width + col];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += Mds[ty * tile + k] * Nds[k * tile + tx];
    __syncthreads();
  }
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  int tile = 8;
  while (tile < 32 && 4 * tile * tile <= properties.maxThreadsPerBlock &&
         8 * 4 * tile * tile <= int(properties.sharedMemPerBlock)) {
    tile *= 2;
  }
  size_t bytes = 2 * sizeof(float) * tile * tile;
  dim3 block(tile, tile), grid(width / tile, width / tile);
  tiled_kernel<<<grid, block, bytes>>>(M, N, P, width, tile);
  CHECK(cudaGetLastError());
}
