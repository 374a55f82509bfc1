// Style: 256 threads load 32 x 32 tiles as float4 and compute four elements each; rows padded by a
// float4

#include "check.h"

constexpr int T = 32;

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
  __shared__ float4 Mds[T][T / 4 + 1];
  __shared__ float4 Nds[T][T / 4];
  int quad = threadIdx.x, ty = threadIdx.y;  // quad: which four columns of the tile
  int row = blockIdx.y * T + ty;
  int col = blockIdx.x * T + 4 * quad;
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int first = 0; first < width; first += T) {
    Mds[ty][quad] = *reinterpret_cast<const float4*>(&M[row * width + first + 4 * quad]);
    Nds[ty][quad] = *reinterpret_cast<const float4*>(&N[(first + ty) * width + col]);
    __syncthreads();
    for (int k = 0; k < T; ++k) {
      float m = reinterpret_cast<const float*>(Mds[ty])[k];
      float4 n = Nds[k][quad];
      sum.x += m * n.x;
      sum.y += m * n.y;
      sum.z += m * n.z;
      sum.w += m * n.w;
    }
    __syncthreads();
  }
  *reinterpret_cast<float4*>(&P[row * width + col]) = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  tiled_kernel<<<dim3(width / T, width / T), dim3(T / 4, T)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
