#include "check.h"

// 64 x 64 of the result by 16 x 16 threads; each has the rows y, y + 16, ... and columns x, x + 16, ...
template <int EDGE, int DEEP, int EACH>
__global__ void patch(const float* A, const float* B, float* C, int rows, int inner, int cols) {
  constexpr int T = EDGE / EACH;
  __shared__ float left[EDGE][DEEP + 1];
  __shared__ float right[DEEP][EDGE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int y0 = blockIdx.y * EDGE, x0 = blockIdx.x * EDGE;
  float own[EACH][EACH];
  for (auto& line : own)
    for (float& one : line) one = 0.0f;

  for (int z = 0; z < inner; z += DEEP) {
    for (int p = 0; p < EACH; ++p) {
      int gy = y0 + y + p * T;
      left[y + p * T][x] = gy < rows && z + x < inner ? A[gy * inner + z + x] : 0.0f;
    }
    for (int p = 0; p < EACH; ++p) {
      int gx = x0 + x + p * T;
      right[y][x + p * T] = gx < cols && z + y < inner ? B[(z + y) * cols + gx] : 0.0f;
    }
    __syncthreads();
    for (int d = 0; d < DEEP; ++d) {
      float b[EACH];
      for (int p = 0; p < EACH; ++p) b[p] = right[d][x + p * T];
      for (int q = 0; q < EACH; ++q) {
        float a = left[y + q * T][d];
        for (int p = 0; p < EACH; ++p) own[q][p] += a * b[p];
      }
    }
    __syncthreads();
  }
  for (int q = 0; q < EACH; ++q) {
    int gy = y0 + y + q * T;
    if (gy >= rows) continue;
    for (int p = 0; p < EACH; ++p) {
      int gx = x0 + x + p * T;
      if (gx < cols) C[gy * cols + gx] = own[q][p];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  constexpr int EDGE = 64, DEEP = 16, EACH = 4;
  dim3 block(EDGE / EACH, EDGE / EACH), grid((l + EDGE - 1) / EDGE, (j + EDGE - 1) / EDGE);
  patch<EDGE, DEEP, EACH><<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
