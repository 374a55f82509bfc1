// Lab 06 without any padding: leave the tile of M as it lies in memory, then the stores go along
// rows; a warp reads two neighbouring rows, 16 words apart, so nothing meets. (Mei-Ling)
#include "check.h"

constexpr int TILE = 64;  // block of P
constexpr int DEPTH = 16;
constexpr int SIDE = 16;  // threads along a side
constexpr int N_PER = TILE / SIDE;

using Row = float[DEPTH];
using Line = float[TILE];

__device__ void fetch_a(Row* a, const float* M, int j, int k, int top, int depth0) {
  for (int step = 0; step < N_PER; ++step) {
    int r = step * SIDE + threadIdx.y;
    bool ok = top + r < j && depth0 + threadIdx.x < k;
    a[r][threadIdx.x] = ok ? M[(size_t)(top + r) * k + depth0 + threadIdx.x] : 0.0f;
  }
}

__device__ void fetch_b(Line* b, const float* N, int k, int l, int depth0, int left) {
  int t = threadIdx.y * SIDE + threadIdx.x, c = t % TILE;
  for (int r = t / TILE; r < DEPTH; r += SIDE * SIDE / TILE) {
    int i = depth0 + r;
    b[r][c] = i < k && left + c < l ? N[(size_t)i * l + left + c] : 0.0f;
  }
}

__global__ void __launch_bounds__(SIDE* SIDE)
    matmul(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Row a[TILE];
  __shared__ Line b[DEPTH];
  int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
  float p[N_PER * N_PER] = {0};

  int depth0 = 0;
  while (depth0 < k) {
    fetch_a(a, M, j, k, top, depth0);
    fetch_b(b, N, k, l, depth0, left);
    __syncthreads();
    for (int i = 0; i < DEPTH; ++i) {
      float q[N_PER];
      for (int c = 0; c < N_PER; ++c) q[c] = b[i][c * SIDE + threadIdx.x];
      for (int r = 0; r < N_PER; ++r) {
        float w = a[r * SIDE + threadIdx.y][i];
        for (int c = 0; c < N_PER; ++c) p[r * N_PER + c] += w * q[c];
      }
    }
    __syncthreads();
    depth0 += DEPTH;
  }

  for (int r = 0; r < N_PER; ++r) {
    int y = top + r * SIDE + threadIdx.y;
    for (int c = 0; c < N_PER && y < j; ++c) {
      int x = left + c * SIDE + threadIdx.x;
      if (x < l) P[(size_t)y * l + x] = p[r * N_PER + c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 block(SIDE, SIDE), grid;
  grid.x = (l - 1) / TILE + 1;
  grid.y = (j - 1) / TILE + 1;
  matmul<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
