// Java style: a class for a matrix with a getter that knows the bounds
#include "check.h"

const int TILE_SIZE = 16;

class MatrixView {
 private:
  const float* values;
  int size;

 public:
  __device__ MatrixView(const float* values, int size) : values(values), size(size) {}

  __device__ bool contains(int row, int column) const {
    return row < size && column < size;
  }

  __device__ float getOrZero(int row, int column) const {
    if (!contains(row, column)) {
      return 0.0f;
    }
    return values[row * size + column];
  }
};

__global__ void multiplyMatrices(const float* m, const float* n, float* p, int size) {
  __shared__ float leftTile[TILE_SIZE][TILE_SIZE];
  __shared__ float rightTile[TILE_SIZE][TILE_SIZE];

  MatrixView left(m, size);
  MatrixView right(n, size);
  MatrixView product(p, size);

  int localRow = threadIdx.y;
  int localColumn = threadIdx.x;
  int globalRow = blockIdx.y * TILE_SIZE + localRow;
  int globalColumn = blockIdx.x * TILE_SIZE + localColumn;

  float total = 0.0f;
  int offset = 0;
  do {
    leftTile[localRow][localColumn] = left.getOrZero(globalRow, offset + localColumn);
    rightTile[localRow][localColumn] = right.getOrZero(offset + localRow, globalColumn);
    __syncthreads();

    for (int index = 0; index < TILE_SIZE; index++) {
      total += leftTile[localRow][index] * rightTile[index][localColumn];
    }
    __syncthreads();

    offset += TILE_SIZE;
  } while (offset < size);

  if (product.contains(globalRow, globalColumn)) {
    p[globalRow * size + globalColumn] = total;
  }
}

int numberOfTiles(int size) {
  int tiles = size / TILE_SIZE;
  if (size % TILE_SIZE != 0) {
    tiles++;
  }
  return tiles;
}

void solve(const float* M, const float* N, float* P, int width) {
  int tiles = numberOfTiles(width);
  dim3 threadsPerBlock(TILE_SIZE, TILE_SIZE);
  dim3 blocksPerGrid(tiles, tiles);
  multiplyMatrices<<<blocksPerGrid, threadsPerBlock>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
