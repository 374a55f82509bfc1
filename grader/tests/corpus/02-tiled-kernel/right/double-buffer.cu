// Style: two pairs of tiles and one barrier a phase

#include "check.h"

constexpr int T = 16;

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
  __shared__ float Mds[2][T][T], Nds[2][T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  int phases = width / T;
  Mds[0][ty][tx] = M[row * width + tx];
  Nds[0][ty][tx] = N[ty * width + col];
  float sum = 0.0f;
  for (int ph = 0; ph < phases; ++ph) {
    __syncthreads();  // this phase's tiles are complete; the other pair is no longer in use
    if (ph + 1 < phases) {
      int next = (ph + 1) * T;
      Mds[(ph + 1) % 2][ty][tx] = M[row * width + next + tx];
      Nds[(ph + 1) % 2][ty][tx] = N[(next + ty) * width + col];
    }
    for (int k = 0; k < T; ++k) sum += Mds[ph % 2][ty][k] * Nds[ph % 2][k][tx];
  }
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  tiled_kernel<<<dim3(width / T, width / T), dim3(T, T)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
