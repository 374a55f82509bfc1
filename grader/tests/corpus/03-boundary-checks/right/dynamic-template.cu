// Style: template on the tile, tiles in dynamic shared memory

#include "check.h"

template <int T>
__global__ void checked_kernel(const float* __restrict__ M, const float* __restrict__ N,
                               float* __restrict__ P, int width) {
  extern __shared__ float tiles[];
  float(*Mds)[T] = reinterpret_cast<float(*)[T]>(tiles);
  float(*Nds)[T] = reinterpret_cast<float(*)[T]>(tiles + T * T);
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  auto at = [width](const float* A, int r, int c) {
    return r < width && c < width ? A[r * width + c] : 0.0f;
  };
  float sum = 0.0f;
  for (int first = 0; first < width; first += T) {
    Mds[ty][tx] = at(M, row, first + tx);
    Nds[ty][tx] = at(N, first + ty, col);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; ++k) sum = fmaf(Mds[ty][k], Nds[k][tx], sum);
    __syncthreads();
  }
  if (row < width && col < width) P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int T = 16;
  int tiles = (width + T - 1) / T;
  checked_kernel<T><<<dim3(tiles, tiles), dim3(T, T), 2 * T * T * sizeof(float)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
