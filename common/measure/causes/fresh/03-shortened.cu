#include "check.h"

constexpr int SIDE = 16;

__device__ int least(int a, int b) { return a < b ? a : b; }

// The last pair of tiles is used only as far as the matrices go.
__global__ void multiply(const float* M, const float* N, float* P, int width) {
  __shared__ float tile[2][SIDE][SIDE + 1];
  const int row = blockIdx.y * SIDE + threadIdx.y, col = blockIdx.x * SIDE + threadIdx.x;
  const bool rowok = row < width, colok = col < width;
  float sum = 0;
  int done = 0;
  do {
    const int count = least(SIDE, width - done);
    if (rowok && threadIdx.x < count) tile[0][threadIdx.y][threadIdx.x] = M[size_t(row) * width + done + threadIdx.x];
    if (colok && threadIdx.y < count) tile[1][threadIdx.y][threadIdx.x] = N[size_t(done + threadIdx.y) * width + col];
    __syncthreads();
    if (rowok && colok)
      for (int i = 0; i < count; ++i) sum += tile[0][threadIdx.y][i] * tile[1][i][threadIdx.x];
    __syncthreads();
    done += count;
  } while (done < width);
  if (rowok && colok) P[size_t(row) * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  const unsigned n = (width + SIDE - 1) / SIDE;
  multiply<<<{n, n}, {SIDE, SIDE}>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
