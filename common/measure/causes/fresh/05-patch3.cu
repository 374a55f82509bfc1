// Register tiling, Wojciech K. Block: 128 x 64 of P; thread: 8 x 4, spread over the block.
#include <cuda_runtime.h>

#include "check.h"

namespace cfg {
constexpr int side = 16;             // threads of a block along x and along y
constexpr int down = 8, across = 4;  // results of a thread
constexpr int rows = side * down;    // of a block
constexpr int cols = side * across;
constexpr int depth = 16;
}  // namespace cfg

struct Matrix {
  const float* at;
  int rows, cols;
  __device__ float get(int r, int c) const {
    return r < rows && c < cols ? at[static_cast<size_t>(r) * cols + c] : 0.f;
  }
};

struct Patch {
  float v[cfg::down][cfg::across];

  __device__ Patch() {
    for (auto& row : v)
      for (auto& x : row) x = 0.f;
  }
  __device__ void add_outer(const float (&left)[cfg::down], const float (&top)[cfg::across]) {
#pragma unroll
    for (int r = 0; r < cfg::down; ++r)
#pragma unroll
      for (int c = 0; c < cfg::across; ++c) v[r][c] += left[r] * top[c];
  }
  template <typename F>
  __device__ void for_each(F f) const {
#pragma unroll
    for (int r = 0; r < cfg::down; ++r)
#pragma unroll
      for (int c = 0; c < cfg::across; ++c) f(r * cfg::side, c * cfg::side, v[r][c]);
  }
};

__global__ void patches(Matrix m, Matrix n, float* p) {
  __shared__ float ms[cfg::rows][cfg::depth + 1];
  __shared__ float ns[cfg::depth][cfg::cols];
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * cfg::rows, left = blockIdx.x * cfg::cols;

  Patch patch;
  for (int k0 = 0; k0 < m.cols; k0 += cfg::depth) {
    // depth == side: thread (x, y) takes column x of every 16th row of M ...
    for (int r = y; r < cfg::rows; r += cfg::side) ms[r][x] = m.get(top + r, k0 + x);
    // ... and every 16th column of row y of N
    for (int c = x; c < cfg::cols; c += cfg::side) ns[y][c] = n.get(k0 + y, left + c);
    __syncthreads();

    for (int i = 0; i < cfg::depth; ++i) {
      float a[cfg::down], b[cfg::across];
      for (int r = 0; r < cfg::down; ++r) a[r] = ms[y + r * cfg::side][i];
      for (int c = 0; c < cfg::across; ++c) b[c] = ns[i][x + c * cfg::side];
      patch.add_outer(a, b);
    }
    __syncthreads();
  }

  patch.for_each([&](int dr, int dc, float value) {
    const int r = top + y + dr, c = left + x + dc;
    if (r < m.rows && c < n.cols) p[static_cast<size_t>(r) * n.cols + c] = value;
  });
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 block(cfg::side, cfg::side);
  const dim3 grid(l / cfg::cols + (l % cfg::cols != 0), j / cfg::rows + (j % cfg::rows != 0));
  patches<<<grid, block>>>(Matrix{M, j, k}, Matrix{N, k, l}, P);
  CHECK(cudaGetLastError());
}
