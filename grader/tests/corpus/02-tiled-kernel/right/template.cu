// Style: the tile width is a template parameter, the arrays are parts of a struct

#include "check.h"

template <int T>
struct Tiles {
  float m[T][T];
  float n[T][T];
};

template <int T>
__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
  __shared__ Tiles<T> tiles;
  const int tx = threadIdx.x, ty = threadIdx.y;
  M += (blockIdx.y * T + ty) * width + tx;
  N += ty * width + blockIdx.x * T + tx;
  float sum = 0;
  for (int left = width; left > 0; left -= T, M += T, N += T * width) {
    tiles.m[ty][tx] = *M;
    tiles.n[ty][tx] = *N;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; k++) sum += tiles.m[ty][k] * tiles.n[k][tx];
    __syncthreads();
  }
  P[(blockIdx.y * T + ty) * width + blockIdx.x * T + tx] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  if (width % 32 == 0) {
    tiled_kernel<32><<<dim3(width / 32, width / 32), dim3(32, 32)>>>(M, N, P, width);
  } else {
    tiled_kernel<16><<<dim3(width / 16, width / 16), dim3(16, 16)>>>(M, N, P, width);
  }
  CHECK(cudaGetLastError());
}
