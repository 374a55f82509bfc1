// Style: accumulates in double precision, 32 x 8 blocks on 32-wide tiles

#include "check.h"

constexpr int T = 32;
constexpr int ROWS = 8;  // of threads; each owns T / ROWS rows

__global__ void rect_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int first_row = blockIdx.y * T, col = blockIdx.x * T + tx;
  double sum[T / ROWS] = {};
  for (int i = 0; i < k; i += T) {
    for (int y = ty; y < T; y += ROWS) {
      int row = first_row + y;
      Mds[y][tx] = row < j && i + tx < k ? M[size_t(row) * k + i + tx] : 0.0f;
      Nds[y][tx] = i + y < k && col < l ? N[size_t(i + y) * l + col] : 0.0f;
    }
    __syncthreads();
    for (int q = 0; q < T; ++q) {
      for (int r = 0; r < T / ROWS; ++r) sum[r] += double(Mds[ty + r * ROWS][q]) * Nds[q][tx];
    }
    __syncthreads();
  }
  for (int r = 0; r < T / ROWS; ++r) {
    int row = first_row + ty + r * ROWS;
    if (row < j && col < l) P[size_t(row) * l + col] = float(sum[r]);
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  rect_kernel<<<dim3((l + T - 1) / T, (j + T - 1) / T), dim3(T, ROWS)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
