// Tiled product with workers: a fixed number of blocks takes tile after tile of P,
// like a thread pool. A block is 32 x 8 threads, a tile 32 x 32: four rows per thread.
#include <algorithm>
#include "check.h"

constexpr int TILE_WIDTH = 32;
constexpr int LANES = 32;
constexpr int TEAMS = 8;
constexpr int ROWS_EACH = TILE_WIDTH / TEAMS;
constexpr int MAX_WORKERS = 24;

using Tile = float[TILE_WIDTH][LANES];

__device__ void fetch(Tile& into, const float* from, int pitch) {
  for (int y = threadIdx.y; y < TILE_WIDTH; y += TEAMS)
    into[y][threadIdx.x] = from[y * pitch + threadIdx.x];
}

__global__ void pool_kernel(const float* M, const float* N, float* P, int width) {
  __shared__ Tile left, right;
  const int side = width / TILE_WIDTH;

  for (int job = blockIdx.x; job < side * side; job += gridDim.x) {
    const int top = job / side * TILE_WIDTH;
    const int edge = job % side * TILE_WIDTH;

    float result[ROWS_EACH] = {};
    for (int start = 0; start < width; start += TILE_WIDTH) {
      fetch(left, M + top * width + start, width);
      fetch(right, N + start * width + edge, width);
      __syncthreads();
      for (int k = 0; k < TILE_WIDTH; ++k) {
        const float b = right[k][threadIdx.x];
        for (int q = 0; q < ROWS_EACH; ++q)
          result[q] += left[threadIdx.y + q * TEAMS][k] * b;
      }
      __syncthreads();
    }

    float* out = P + top * width + edge;
    for (int q = 0; q < ROWS_EACH; ++q)
      out[(threadIdx.y + q * TEAMS) * width + threadIdx.x] = result[q];
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int jobs = (width / TILE_WIDTH) * (width / TILE_WIDTH);
  const int workers = std::min(jobs, MAX_WORKERS);
  pool_kernel<<<workers, dim3(LANES, TEAMS)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
