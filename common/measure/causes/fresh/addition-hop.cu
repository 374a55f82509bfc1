#include "check.h"

struct Mat {
  const float* at;
  int h, w;
  __device__ float operator()(int r, int c) const { return at[r * w + c]; }
};

// the grid hops over the matrix in both directions
__global__ void plus(Mat a, Mat b, float* c) {
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < a.h; r += gridDim.y * blockDim.y)
    for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < a.w; q += gridDim.x * blockDim.x)
      c[r * a.w + q] = a(r, q) + b(r, q);
}

void solve(const float* A, const float* B, float* C, int rows, int columns) {
  dim3 threads(64, 4);
  dim3 grid((columns + 127) / 128, (rows + 7) / 8);
  plus<<<grid, threads>>>(Mat{A, rows, columns}, Mat{B, rows, columns}, C);
  CHECK(cudaGetLastError());
}
