// kestrel // tiles of 32, a warp is one row of the tile, four rows per thread
#include "check.h"

using uint = unsigned int;

namespace cfg {
constexpr uint Tile = 32;
constexpr uint Warps = 8;
constexpr uint PerThread = Tile / Warps;
}  // namespace cfg

struct Float4Acc {
  float v[cfg::PerThread];
  __device__ void clear() {
#pragma unroll
    for (uint q = 0; q < cfg::PerThread; q++) v[q] = 0.f;
  }
};

struct Tile {
  float cell[cfg::Tile][cfg::Tile];

  // origin: upper left corner in global memory
  __device__ void fetch(const float* origin, uint pitch, uint lane, uint warp) {
#pragma unroll
    for (uint y = warp; y < cfg::Tile; y += cfg::Warps) cell[y][lane] = origin[y * pitch + lane];
  }
};

__global__ void mulTiles(const float* A, const float* B, float* C, uint size) {
  __shared__ Tile a, b;

  const uint lane = threadIdx.x;
  const uint warp = threadIdx.y;
  const uint top = blockIdx.y * cfg::Tile;
  const uint left = blockIdx.x * cfg::Tile;

  Float4Acc acc;
  acc.clear();

  for (uint at = 0; at < size; at += cfg::Tile) {
    a.fetch(A + top * size + at, size, lane, warp);
    b.fetch(B + at * size + left, size, lane, warp);
    __syncthreads();

#pragma unroll 8
    for (uint s = 0; s < cfg::Tile; s++) {
      const float w = b.cell[s][lane];
#pragma unroll
      for (uint q = 0; q < cfg::PerThread; q++) acc.v[q] += a.cell[warp + q * cfg::Warps][s] * w;
    }
    __syncthreads();
  }

  float* target = C + (top + warp) * size + left + lane;
  for (uint q = 0; q < cfg::PerThread; q++) {
    *target = acc.v[q];
    target += cfg::Warps * size;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const uint size = uint(width);
  const uint tiles = size / cfg::Tile;
  mulTiles<<<dim3(tiles, tiles), dim3(cfg::Tile, cfg::Warps)>>>(M, N, P, size);
  CHECK(cudaGetLastError());
}
