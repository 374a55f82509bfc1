// Lab 02 - Giulia. In Java everything is an object, so the tile is one too.
#include "check.h"

const int SIDE = 32;

struct Tile {
  float cells[SIDE][SIDE];

  __device__ void set(int line, int column, float value) { cells[line][column] = value; }
  __device__ float get(int line, int column) const { return cells[line][column]; }
};

class SquareMatrix {
 public:
  __device__ SquareMatrix(const float* data, int size) : data(data), size(size) {}
  __device__ float get(int line, int column) const { return data[line * size + column]; }

 private:
  const float* data;
  int size;
};

__global__ void multiplyTiles(const float* left, const float* right, float* product, int size) {
  __shared__ Tile leftTile;
  __shared__ Tile rightTile;
  SquareMatrix leftMatrix(left, size);
  SquareMatrix rightMatrix(right, size);

  int localLine = threadIdx.y;
  int localColumn = threadIdx.x;
  int line = blockIdx.y * SIDE + localLine;
  int column = blockIdx.x * SIDE + localColumn;

  float result = 0.0f;
  for (int start = 0; start < size; start += SIDE) {
    leftTile.set(localLine, localColumn, leftMatrix.get(line, start + localColumn));
    rightTile.set(localLine, localColumn, rightMatrix.get(start + localLine, column));
    __syncthreads();

    float partial = 0.0f;
    for (int step = 0; step < SIDE; step++) {
      partial += leftTile.get(localLine, step) * rightTile.get(step, localColumn);
    }
    result += partial;
    __syncthreads();
  }
  product[line * size + column] = result;
}

void solve(const float* M, const float* N, float* P, int width) {
  int blocksPerSide = width / SIDE;
  dim3 gridSize(blocksPerSide, blocksPerSide, 1);
  dim3 blockSize(SIDE, SIDE, 1);
  multiplyTiles<<<gridSize, blockSize>>>(M, N, P, width);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    printf("launch failed: %s\n", cudaGetErrorString(status));
    exit(EXIT_FAILURE);
  }
}
