// No transposition at all: Mds stays as M lies in memory, and a thread takes rows 16 apart.
#include "check.h"

namespace cfg {
constexpr int tile = 64, depth = 16, threads_per_side = 16, each = tile / threads_per_side;
}

struct Accumulator {
  float v[cfg::each][cfg::each] = {};
  __device__ void rank1(const float* a, const float* b) {
    for (int r = 0; r < cfg::each; ++r)
      for (int c = 0; c < cfg::each; ++c) v[r][c] += a[r] * b[c];
  }
};

__global__ void straight(const float* __restrict__ M, const float* __restrict__ N,
                         float* __restrict__ P, int j, int k, int l) {
  using namespace cfg;
  __shared__ float Mt[tile][depth];
  __shared__ float Nt[depth][tile];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int top = tile * blockIdx.y, left = tile * blockIdx.x;
  // a warp fills half a row of the tile of N, so that no two lanes meet in a bank
  const int line = (ty * threads_per_side + tx) / tile, place = (ty * threads_per_side + tx) % tile;
  Accumulator sums;

  int k0 = 0;
  while (k0 < k) {
    for (int q = 0; q < each; ++q) {
      const int r = ty + q * threads_per_side;  // of the tile of M
      const int grow = top + r, gcol = k0 + tx;
      Mt[r][tx] = grow < j && gcol < k ? M[size_t(grow) * k + gcol] : 0.0f;
    }
    for (int q = 0; q < each; ++q) {
      const int d = line + q * (depth / each), grow = k0 + d, gcol = left + place;
      Nt[d][place] = grow < k && gcol < l ? N[size_t(grow) * l + gcol] : 0.0f;
    }
    __syncthreads();
    for (int d = 0; d < depth; ++d) {
      float a[each], b[each];
      for (int q = 0; q < each; ++q) a[q] = Mt[ty + q * threads_per_side][d];
      for (int q = 0; q < each; ++q) b[q] = Nt[d][tx + q * threads_per_side];
      sums.rank1(a, b);
    }
    __syncthreads();
    k0 += depth;
  }

  for (int r = 0; r < each; ++r) {
    const int row = top + ty + r * threads_per_side;
    for (int c = 0; c < each; ++c) {
      const int col = left + tx + c * threads_per_side;
      if (row < j && col < l) P[size_t(row) * l + col] = sums.v[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 block(cfg::threads_per_side, cfg::threads_per_side);
  const auto cover = [](int length) { return (length + cfg::tile - 1) / cfg::tile; };
  straight<<<dim3(cover(l), cover(j)), block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
