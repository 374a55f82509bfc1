// Lab 03 by someone who comes from Java: a SquareMatrix with get and set.
#include "check.h"

class SquareMatrix {
  float* values;
  int size;

 public:
  __host__ __device__ SquareMatrix(float* values, int size) : values(values), size(size) {}

  __device__ bool contains(int row, int column) const {
    return row < size && column < size;
  }
  __device__ float getOrZero(int row, int column) const {
    if (contains(row, column)) {
      return values[row * size + column];
    }
    return 0.0f;
  }
  __device__ void setIfInside(int row, int column, float value) {
    if (contains(row, column)) {
      values[row * size + column] = value;
    }
  }
  __host__ __device__ int getSize() const { return size; }
};

const int BLOCK_SIZE = 16;

__host__ __device__ int blocksNeeded(int size) {
  int full = size / BLOCK_SIZE;
  return size % BLOCK_SIZE == 0 ? full : full + 1;
}

__global__ void multiplyKernel(SquareMatrix first, SquareMatrix second, SquareMatrix result) {
  __shared__ float firstTile[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float secondTile[BLOCK_SIZE][BLOCK_SIZE];
  int localColumn = threadIdx.x;
  int localRow = threadIdx.y;
  int column = blockIdx.x * BLOCK_SIZE + localColumn;
  int row = blockIdx.y * BLOCK_SIZE + localRow;
  int numberOfTiles = blocksNeeded(first.getSize());

  float value = 0.0f;
  for (int tile = 0; tile < numberOfTiles; tile++) {
    int offset = tile * BLOCK_SIZE;
    firstTile[localRow][localColumn] = first.getOrZero(row, offset + localColumn);
    secondTile[localRow][localColumn] = second.getOrZero(offset + localRow, column);
    __syncthreads();
    for (int step = 0; step < BLOCK_SIZE; step++) {
      value += firstTile[localRow][step] * secondTile[step][localColumn];
    }
    __syncthreads();
  }
  result.setIfInside(row, column, value);
}

void solve(const float* M, const float* N, float* P, int width) {
  SquareMatrix first(const_cast<float*>(M), width);
  SquareMatrix second(const_cast<float*>(N), width);
  SquareMatrix result(P, width);
  int side = blocksNeeded(width);
  dim3 gridSize(side, side);
  dim3 blockSize(BLOCK_SIZE, BLOCK_SIZE);
  multiplyKernel<<<gridSize, blockSize>>>(first, second, result);
  CHECK(cudaGetLastError());
}
