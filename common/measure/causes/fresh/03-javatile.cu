#include "check.h"

// I come from Java, so everything is in a class.

static const int SIZE = 16;

class SquareMatrix {
 private:
  const float* elements;
  int size;

 public:
  __host__ __device__ SquareMatrix(const float* elements, int size)
      : elements(elements), size(size) {}

  __device__ bool contains(int row, int column) const { return row < size && column < size; }

  __device__ float getOrZero(int row, int column) const {
    if (!contains(row, column)) {
      return 0.0f;
    }
    return elements[row * size + column];
  }

  __host__ __device__ int getTileCount() const { return (size - 1) / SIZE + 1; }
  __host__ __device__ int getSize() const { return size; }
};

class Tile {
 private:
  float values[SIZE][SIZE];

 public:
  __device__ void load(const SquareMatrix& source, int tileRow, int tileColumn) {
    int y = threadIdx.y;
    int x = threadIdx.x;
    values[y][x] = source.getOrZero(tileRow * SIZE + y, tileColumn * SIZE + x);
  }

  __device__ float get(int y, int x) const { return values[y][x]; }
};

__global__ void multiplyKernel(SquareMatrix left, SquareMatrix right, float* product) {
  __shared__ Tile leftTile;
  __shared__ Tile rightTile;

  float result = 0.0f;
  int tileCount = left.getTileCount();
  for (int tile = 0; tile < tileCount; tile++) {
    leftTile.load(left, blockIdx.y, tile);
    rightTile.load(right, tile, blockIdx.x);
    __syncthreads();

    for (int index = 0; index < SIZE; index++) {
      result += leftTile.get(threadIdx.y, index) * rightTile.get(index, threadIdx.x);
    }
    __syncthreads();
  }

  int row = blockIdx.y * SIZE + threadIdx.y;
  int column = blockIdx.x * SIZE + threadIdx.x;
  if (left.contains(row, column)) {
    product[row * left.getSize() + column] = result;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  SquareMatrix left(M, width);
  SquareMatrix right(N, width);
  dim3 grid(left.getTileCount(), right.getTileCount());
  dim3 block(SIZE, SIZE);
  multiplyKernel<<<grid, block>>>(left, right, P);
  CHECK(cudaGetLastError());
}
