// No transposition at all: a thread's rows stand 16 apart, so the two rows of a warp are neighbours.
#include "check.h"

template <int Rows, int Cols>
struct Tile {
  float cell[Rows][Cols];

  template <int Threads, typename Source>
  __device__ void fill(int rank, Source source) {
#pragma unroll
    for (int turn = 0; turn < Rows * Cols / Threads; ++turn) {
      const int n = turn * Threads + rank;
      cell[n / Cols][n % Cols] = source(n / Cols, n % Cols);
    }
  }
};

struct Shape {
  int j, k, l;
};

constexpr int SIDE = 64, DEEP = 16, LANES = 16, EACH = SIDE / LANES;

__global__ void strided(const float* M, const float* N, float* P, Shape s) {
  __shared__ Tile<SIDE, DEEP> m;
  __shared__ Tile<DEEP, SIDE> n;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int rank = tx + LANES * ty;
  const int down = SIDE * blockIdx.y, right = SIDE * blockIdx.x;

  float mine[EACH][EACH] = {};
  for (int z = 0; z < s.k; z += DEEP) {
    m.fill<LANES * LANES>(rank, [=](int r, int c) {
      return down + r < s.j && z + c < s.k ? M[size_t(down + r) * s.k + z + c] : 0.f;
    });
    n.fill<LANES * LANES>(rank, [=](int r, int c) {
      return z + r < s.k && right + c < s.l ? N[size_t(z + r) * s.l + right + c] : 0.f;
    });
    __syncthreads();

#pragma unroll
    for (int i = 0; i < DEEP; ++i) {
      float right_values[EACH];
#pragma unroll
      for (int c = 0; c < EACH; ++c) right_values[c] = n.cell[i][tx + c * LANES];
#pragma unroll
      for (int r = 0; r < EACH; ++r) {
        const float left_value = m.cell[ty + r * LANES][i];
#pragma unroll
        for (int c = 0; c < EACH; ++c) mine[r][c] += left_value * right_values[c];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < EACH; ++r) {
    const int row = down + ty + r * LANES;
#pragma unroll
    for (int c = 0; c < EACH; ++c) {
      const int col = right + tx + c * LANES;
      if (row < s.j && col < s.l) P[size_t(row) * s.l + col] = mine[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto tiles = [](int length) { return unsigned(length / SIDE + (length % SIDE != 0)); };
  dim3 grid{tiles(l), tiles(j)};
  strided<<<grid, dim3{LANES, LANES}>>>(M, N, P, Shape{j, k, l});
  CHECK(cudaGetLastError());
}
