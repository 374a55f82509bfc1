// Lab 03, object oriented: a Matrix knows its bounds, a Tile knows how to fill itself.
#include "check.h"

class Matrix {
 public:
  __host__ __device__ Matrix(float* data, int size) : data(data), size(size) {}
  __device__ bool contains(int row, int col) const { return row < size && col < size; }
  __device__ float get(int row, int col) const {
    if (!contains(row, col)) return 0.0f;
    return data[row * size + col];
  }
  __device__ void set(int row, int col, float value) {
    if (contains(row, col)) data[row * size + col] = value;
  }
  __host__ __device__ int getSize() const { return size; }

 private:
  float* data;
  int size;
};

struct Tile {
  static const int SIDE = 16;
  float cell[SIDE][SIDE];

  __device__ void fill(const Matrix& from, int tileRow, int tileCol) {
    const int myRow = tileRow * SIDE + threadIdx.y;
    const int myCol = tileCol * SIDE + threadIdx.x;
    cell[threadIdx.y][threadIdx.x] = from.get(myRow, myCol);
  }
};

class Accumulator {
 public:
  __device__ Accumulator() : total(0.0f) {}
  __device__ void addRowTimesColumn(const Tile& a, const Tile& b) {
    for (int i = 0; i < Tile::SIDE; i++) {
      total += a.cell[threadIdx.y][i] * b.cell[i][threadIdx.x];
    }
  }
  __device__ float getTotal() const { return total; }

 private:
  float total;
};

__host__ __device__ inline int numberOfTiles(int size) {
  return (size - 1) / Tile::SIDE + 1;
}

__global__ void multiply(Matrix first, Matrix second, Matrix result) {
  __shared__ Tile firstTile;
  __shared__ Tile secondTile;
  Accumulator accumulator;

  const int tiles = numberOfTiles(first.getSize());
  for (int tile = 0; tile < tiles; tile++) {
    firstTile.fill(first, blockIdx.y, tile);
    secondTile.fill(second, tile, blockIdx.x);
    __syncthreads();
    accumulator.addRowTimesColumn(firstTile, secondTile);
    __syncthreads();
  }

  const int row = blockIdx.y * Tile::SIDE + threadIdx.y;
  const int col = blockIdx.x * Tile::SIDE + threadIdx.x;
  result.set(row, col, accumulator.getTotal());
}

void solve(const float* M, const float* N, float* P, int width) {
  Matrix first(const_cast<float*>(M), width);
  Matrix second(const_cast<float*>(N), width);
  Matrix result(P, width);
  const int tiles = numberOfTiles(width);
  dim3 threads(Tile::SIDE, Tile::SIDE);
  dim3 blocks(tiles, tiles);
  multiply<<<blocks, threads>>>(first, second, result);
  CHECK(cudaGetLastError());
}
