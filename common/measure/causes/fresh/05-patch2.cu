#include "check.h"

// Block: 32 x 8 threads -> 128 columns x 64 rows of P.  Thread: 4 columns (32 apart), 8 rows (8 apart).
enum { BX = 32, BY = 8, PX = 4, PY = 8, WIDE = BX * PX, HIGH = BY * PY, DEEP = 16 };

struct Shape { int j, k, l; };

struct Patch {
  float v[PY][PX];

  __device__ void clear() {
    for (auto& row : v)
      for (float& e : row) e = 0;
  }
  __device__ void rank1(const float (&left)[PY], const float (&up)[PX]) {
#pragma unroll
    for (int y = 0; y < PY; ++y)
#pragma unroll
      for (int x = 0; x < PX; ++x) v[y][x] = __fmaf_rn(left[y], up[x], v[y][x]);
  }
};

__global__ void patches(const float* M, const float* N, float* P, Shape s) {
  __shared__ float mt[HIGH][DEEP + 1], nt[DEEP][WIDE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row0 = blockIdx.y * HIGH, col0 = blockIdx.x * WIDE;

  Patch sum;
  sum.clear();
  for (int d = 0; d < s.k; d += DEEP) {
    // M: half a warp reads 16 neighbours of one row
    for (int r = 2 * y + x / DEEP; r < HIGH; r += 2 * BY) {
      const int row = row0 + r, col = d + x % DEEP;
      float f = 0;
      if (row < s.j && col < s.k) f = M[size_t(s.k) * row + col];
      mt[r][x % DEEP] = f;
    }
    // N: a warp reads a whole row, 32 at a time
    for (int i = y; i < DEEP; i += BY) {
      for (int c = x; c < WIDE; c += BX) {
        float f = 0;
        if (d + i < s.k && col0 + c < s.l) f = N[size_t(s.l) * (d + i) + col0 + c];
        nt[i][c] = f;
      }
    }
    __syncthreads();
    for (int i = 0; i < DEEP; ++i) {
      float left[PY], up[PX];
#pragma unroll
      for (int a = 0; a < PY; ++a) left[a] = mt[y + a * BY][i];
#pragma unroll
      for (int b = 0; b < PX; ++b) up[b] = nt[i][x + b * BX];
      sum.rank1(left, up);
    }
    __syncthreads();
  }

  for (int a = 0; a < PY; ++a) {
    const int row = row0 + y + a * BY;
    if (row >= s.j) break;
    float* line = P + size_t(s.l) * row;
    for (int b = 0; b < PX; ++b) {
      const int col = col0 + x + b * BX;
      if (col < s.l) line[col] = sum.v[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Shape s{j, k, l};
  dim3 grid;
  grid.x = l / WIDE + (l % WIDE > 0);
  grid.y = j / HIGH + (j % HIGH > 0);
  patches<<<grid, dim3(BX, BY)>>>(M, N, P, s);
  CHECK(cudaPeekAtLastError());
}
