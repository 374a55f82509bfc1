// Style: the next phase is loaded into registers while this one is used

#include "check.h"

constexpr int T = 16;

__global__ void tiled_kernel(const float* __restrict__ M, const float* __restrict__ N,
                             float* __restrict__ P, int width) {
  __shared__ float Mds[T][T];
  __shared__ float Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float m = M[row * width + tx];
  float n = N[ty * width + col];
  float sum = 0.0f;
  for (int ph = 1; ph <= width / T; ++ph) {
    Mds[ty][tx] = m;
    Nds[ty][tx] = n;
    __syncthreads();
    if (ph < width / T) {
      m = M[row * width + ph * T + tx];
      n = N[(ph * T + ty) * width + col];
    }
    for (int k = 0; k < T; ++k) sum = fmaf(Mds[ty][k], Nds[k][tx], sum);
    __syncthreads();
  }
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  tiled_kernel<<<dim3(width / T, width / T), dim3(T, T)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
