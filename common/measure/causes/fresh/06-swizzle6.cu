#include "check.h"

// No padding: rows of 64 words, permuted by exclusive or. A warp loads 4 rows of 8 columns.
constexpr int SIDE = 64, DEPTH = 16, PATCH = 4;

class SwizzledTile {
  float words_[DEPTH * SIDE];

 public:
  __device__ float& at(int i, int r) { return words_[SIDE * i + (r ^ (4 * (i % 8)))]; }
};

__global__ void swizzled_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ SwizzledTile left;
  __shared__ float right[DEPTH][SIDE];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int id = ty * 16 + tx;
  const int warp = id / 32, lane = id % 32;
  const int row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;

  float sum[PATCH][PATCH] = {};
  const int steps = (k + DEPTH - 1) / DEPTH;
  for (int step = 0; step < steps; ++step) {
    // 8 warps: warp w takes rows 8w .. 8w + 7, in pieces of 4 x 8
    for (int piece = 0; piece < 4; ++piece) {
      int r = warp * 8 + piece / 2 * 4 + lane / 8;
      int i = piece % 2 * 8 + lane % 8;
      int row = row0 + r, col = step * DEPTH + i;
      float v = 0.0f;
      if (row < j && col < k) v = M[size_t(row) * k + col];
      left.at(i, r) = v;
    }
    for (int i = id / SIDE; i < DEPTH; i += 256 / SIDE) {
      int row = step * DEPTH + i, col = col0 + id % SIDE;
      float v = 0.0f;
      if (row < k && col < l) v = N[size_t(row) * l + col];
      right[i][id % SIDE] = v;
    }
    __syncthreads();

    for (int i = 0; i < DEPTH; ++i) {
      float m[PATCH];
      for (int r = 0; r < PATCH; ++r) m[r] = left.at(i, PATCH * ty + r);
      for (int c = 0; c < PATCH; ++c) {
        float n = right[i][tx + 16 * c];
        for (int r = 0; r < PATCH; ++r) sum[r][c] += m[r] * n;
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < PATCH; ++r) {
    for (int c = 0; c < PATCH; ++c) {
      int row = row0 + PATCH * ty + r, col = col0 + tx + 16 * c;
      if (row < j && col < l) P[size_t(row) * l + col] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = (l + SIDE - 1) / SIDE;
  grid.y = (j + SIDE - 1) / SIDE;
  swizzled_kernel<<<grid, dim3(16, 16)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
