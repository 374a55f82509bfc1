// Lab 03. Matrix knows its borders, so the kernel does not have to.
#include "check.h"

class Matrix {
  float* elements;
  int size;

 public:
  Matrix(float* elements, int size) : elements(elements), size(size) {}

  __host__ __device__ int getSize() const { return size; }
  __device__ bool contains(int row, int column) const {
    return row < size && column < size;
  }
  __device__ float get(int row, int column) const {
    if (!contains(row, column)) {
      return 0.0f;
    }
    return elements[row * size + column];
  }
  __device__ void set(int row, int column, float value) {
    if (contains(row, column)) {
      elements[row * size + column] = value;
    }
  }
};

class Config {
 public:
  static const int TILE = 32;
  static int blocksFor(int size) {
    int blocks = 0;
    for (int covered = 0; covered < size; covered += TILE) {
      blocks++;
    }
    return blocks;
  }
};

__global__ void multiplyKernel(Matrix left, Matrix right, Matrix result) {
  __shared__ float leftTile[Config::TILE][Config::TILE];
  __shared__ float rightTile[Config::TILE][Config::TILE];

  int localRow = threadIdx.y;
  int localColumn = threadIdx.x;
  int row = blockIdx.y * Config::TILE + localRow;
  int column = blockIdx.x * Config::TILE + localColumn;
  float value = 0.0f;

  int offset = 0;
  do {
    leftTile[localRow][localColumn] = left.get(row, offset + localColumn);
    rightTile[localRow][localColumn] = right.get(offset + localRow, column);
    __syncthreads();

    for (int i = 0; i < Config::TILE; i++) {
      value += leftTile[localRow][i] * rightTile[i][localColumn];
    }
    __syncthreads();

    offset += Config::TILE;
  } while (offset < left.getSize());

  result.set(row, column, value);
}

void solve(const float* M, const float* N, float* P, int width) {
  Matrix left(const_cast<float*>(M), width);
  Matrix right(const_cast<float*>(N), width);
  Matrix result(P, width);

  dim3 threads(Config::TILE, Config::TILE);
  dim3 blocks(Config::blocksFor(width), Config::blocksFor(width));
  multiplyKernel<<<blocks, threads>>>(left, right, result);
  CHECK(cudaGetLastError());
}
