// Style: whole tiles by one kernel without checks, the rest by another with checks

#include "check.h"

constexpr int T = 16;

template <bool Checked>
__global__ void tiles(const float* M, const float* N, float* P, int width, int block_row,
                      int block_col) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = (block_row + blockIdx.y) * T + ty, col = (block_col + blockIdx.x) * T + tx;
  float sum = 0.0f;
  for (int first = 0; first < width; first += T) {
    bool m_inside = !Checked || row < width, n_inside = !Checked || col < width;
    Mds[ty][tx] = m_inside && first + tx < width ? M[row * width + first + tx] : 0.0f;
    Nds[ty][tx] = n_inside && first + ty < width ? N[(first + ty) * width + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += Mds[ty][k] * Nds[k][tx];
    __syncthreads();
  }
  if (!Checked || (row < width && col < width)) P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  int whole = width / T;  // tiles that lie inside, along one side
  int all = (width + T - 1) / T;
  dim3 block(T, T);
  if (whole > 0) tiles<false><<<dim3(whole, whole), block>>>(M, N, P, width, 0, 0);
  if (whole < all) {
    tiles<true><<<dim3(1, all), block>>>(M, N, P, width, 0, whole);
    if (whole > 0) tiles<true><<<dim3(whole, 1), block>>>(M, N, P, width, whole, 0);
  }
  CHECK(cudaGetLastError());
}
