// Lab 03. Everything is an object.
#include "check.h"

class SquareMatrix {
  const float* elements;
  int size;

 public:
  __device__ SquareMatrix(const float* elements, int size) : elements(elements), size(size) {}
  __device__ bool contains(int row, int column) const { return row < size && column < size; }
  __device__ float getOrZero(int row, int column) const {
    if (!contains(row, column)) {
      return 0.0f;
    }
    return elements[row * size + column];
  }
};

class TileCounter {
 public:
  static constexpr int TILE_SIZE = 16;
  __host__ __device__ static int count(int elements) {
    return elements / TILE_SIZE + (elements % TILE_SIZE != 0 ? 1 : 0);
  }
};

class Accumulator {
  float value = 0.0f;

 public:
  __device__ void addProduct(float left, float right) { value += left * right; }
  __device__ float getValue() const { return value; }
};

__global__ void multiplyMatrices(const float* leftData, const float* rightData, float* resultData,
                                 int size) {
  constexpr int TILE = TileCounter::TILE_SIZE;
  __shared__ float leftTile[TILE][TILE];
  __shared__ float rightTile[TILE][TILE];

  SquareMatrix left(leftData, size);
  SquareMatrix right(rightData, size);
  Accumulator accumulator;

  const int localRow = threadIdx.y;
  const int localColumn = threadIdx.x;
  const int globalRow = blockIdx.y * TILE + localRow;
  const int globalColumn = blockIdx.x * TILE + localColumn;
  const int numberOfTiles = TileCounter::count(size);

  for (int tileIndex = 0; tileIndex < numberOfTiles; tileIndex++) {
    const int offset = tileIndex * TILE;
    leftTile[localRow][localColumn] = left.getOrZero(globalRow, offset + localColumn);
    rightTile[localRow][localColumn] = right.getOrZero(offset + localRow, globalColumn);
    __syncthreads();
    for (int index = 0; index < TILE; index++) {
      accumulator.addProduct(leftTile[localRow][index], rightTile[index][localColumn]);
    }
    __syncthreads();
  }

  if (left.contains(globalRow, globalColumn)) {
    resultData[globalRow * size + globalColumn] = accumulator.getValue();
  }
}

class MatrixMultiplier {
  int size;

 public:
  explicit MatrixMultiplier(int size) : size(size) {}
  void run(const float* left, const float* right, float* result) const {
    const int tiles = TileCounter::count(size);
    dim3 threadsPerBlock(TileCounter::TILE_SIZE, TileCounter::TILE_SIZE);
    dim3 numberOfBlocks(tiles, tiles);
    multiplyMatrices<<<numberOfBlocks, threadsPerBlock>>>(left, right, result, size);
    CHECK(cudaGetLastError());
  }
};

void solve(const float* M, const float* N, float* P, int width) {
  MatrixMultiplier(width).run(M, N, P);
}
