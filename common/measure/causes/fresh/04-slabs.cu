// a grid of three sides: z counts slabs of four rows of blocks
#include "check.h"

namespace slab {
constexpr int tile = 16;
constexpr int high = 4;

struct Geometry {
  dim3 grid, block;
};

inline int pieces(int whole, int piece) { return whole / piece + (whole % piece != 0); }

Geometry geometry(int rows, int columns) {
  Geometry g;
  g.block = dim3(tile, tile);
  g.grid.x = pieces(columns, tile);
  g.grid.y = high;
  g.grid.z = pieces(rows, tile * high);
  return g;
}

__global__ void product(const float* m, const float* n, float* p, int j, int k, int l) {
  __shared__ float sm[tile][tile];
  __shared__ float sn[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = (blockIdx.z * high + blockIdx.y) * tile + ty;
  const int col = blockIdx.x * tile + tx;
  float acc = 0.0f;
  for (int t = 0; t < (k + tile - 1) / tile; ++t) {
    const int i = t * tile;
    sm[ty][tx] = (row < j && i + tx < k) ? m[size_t(row) * k + i + tx] : 0.0f;
    sn[ty][tx] = (i + ty < k && col < l) ? n[size_t(i + ty) * l + col] : 0.0f;
    __syncthreads();
    for (int q = 0; q < tile; ++q) acc += sm[ty][q] * sn[q][tx];
    __syncthreads();
  }
  if (row < j && col < l) p[size_t(row) * l + col] = acc;
}
}  // namespace slab

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const slab::Geometry g = slab::geometry(j, l);
  slab::product<<<g.grid, g.block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
