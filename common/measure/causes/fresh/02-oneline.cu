// Lab 02: one-dimensional blocks, template for the tile.
#include "check.h"

template <int T>
struct Tile {
  float cell[T][T];

  __device__ void fill(const float* src, int pitch, int id) {
    cell[id / T][id % T] = src[(id / T) * pitch + id % T];
  }
};

template <int T>
__device__ float multiplyTiles(const Tile<T>& left, const Tile<T>& right, int y, int x) {
  float partial = 0.0f;
#pragma unroll
  for (int i = 0; i < T; ++i) {
    partial += left.cell[y][i] * right.cell[i][x];
  }
  return partial;
}

template <int T>
__global__ void matMul(const float* left, const float* right, float* out, int size) {
  __shared__ Tile<T> lt;
  __shared__ Tile<T> rt;

  const int id = threadIdx.x;
  const int y = id / T;
  const int x = id % T;
  const int tilesPerSide = size / T;
  const int blockRow = blockIdx.x / tilesPerSide;
  const int blockCol = blockIdx.x % tilesPerSide;

  float result = 0.0f;
  for (int t = 0; t < tilesPerSide; ++t) {
    lt.fill(left + blockRow * T * size + t * T, size, id);
    rt.fill(right + t * T * size + blockCol * T, size, id);
    __syncthreads();
    result += multiplyTiles(lt, rt, y, x);
    __syncthreads();
  }

  out[(blockRow * T + y) * size + blockCol * T + x] = result;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int T = 16;
  const int tiles = width / T;
  const int blocks = tiles * tiles;
  const int threads = T * T;
  matMul<T><<<blocks, threads>>>(M, N, P, width);
  CHECK(cudaPeekAtLastError());
}
