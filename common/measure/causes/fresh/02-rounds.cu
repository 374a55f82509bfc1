#include "check.h"

// 64 threads for a tile of 16 x 16: each has four rows, four apart.
namespace cfg {
constexpr int side = 16, threads = 64, step = threads / side;
}

struct Tile {
  float at[cfg::side * cfg::side];
  __device__ float& operator()(int r, int c) { return at[r * cfg::side + c]; }
};

__device__ void take(Tile& tile, const float* corner, int pitch) {
  const int c = threadIdx.x % cfg::side;
  for (int r = threadIdx.x / cfg::side; r < cfg::side; r += cfg::step)
    tile(r, c) = corner[r * pitch + c];
}

__global__ void rounds(const float* M, const float* N, float* P, int width) {
  __shared__ Tile left, right;
  const int c = threadIdx.x % cfg::side, r0 = threadIdx.x / cfg::side;
  const float* m = M + blockIdx.y * cfg::side * width;
  const float* n = N + blockIdx.x * cfg::side;
  float sums[4] = {0, 0, 0, 0};
  for (int round = width / cfg::side; round > 0; --round) {
    take(left, m, width);
    take(right, n, width);
    __syncthreads();
    for (int i = 0; i < cfg::side; i++)
      for (int q = 0; q < 4; q++) sums[q] += left(r0 + q * cfg::step, i) * right(i, c);
    __syncthreads();
    m += cfg::side;
    n += cfg::side * width;
  }
  float* p = P + blockIdx.y * cfg::side * width + blockIdx.x * cfg::side;
  for (int q = 0; q < 4; q++) p[(r0 + q * cfg::step) * width + c] = sums[q];
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 grid(width / cfg::side, width / cfg::side);
  rounds<<<grid, cfg::threads>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
