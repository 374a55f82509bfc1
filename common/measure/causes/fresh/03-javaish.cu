// Lab 03 by a Java programmer: everything has a getter and a setter.
#include "check.h"

const int TILE = 16;

class SquareMatrix {
 public:
  __host__ __device__ SquareMatrix(float* elements, int size) : elements(elements), size(size) {}

  __device__ bool isInside(int r, int c) const { return r < size && c < size; }

  __device__ float getOrZero(int r, int c) const {
    if (isInside(r, c)) {
      return elements[r * size + c];
    }
    return 0.0f;
  }

  __device__ void setIfInside(int r, int c, float value) {
    if (isInside(r, c)) {
      elements[r * size + c] = value;
    }
  }

  __host__ __device__ int getTileCount() const { return (size - 1) / TILE + 1; }

 private:
  float* elements;
  int size;
};

__global__ void multiply(SquareMatrix left, SquareMatrix right, SquareMatrix result) {
  __shared__ float leftTile[TILE][TILE];
  __shared__ float rightTile[TILE][TILE];

  int localRow = threadIdx.y;
  int localCol = threadIdx.x;
  int globalRow = blockIdx.y * TILE + localRow;
  int globalCol = blockIdx.x * TILE + localCol;
  float value = 0.0f;

  int tileCount = left.getTileCount();
  for (int tile = 0; tile < tileCount; tile++) {
    int offset = tile * TILE;
    leftTile[localRow][localCol] = left.getOrZero(globalRow, offset + localCol);
    rightTile[localRow][localCol] = right.getOrZero(offset + localRow, globalCol);
    __syncthreads();
    for (int n = 0; n < TILE; n++) {
      value += leftTile[localRow][n] * rightTile[n][localCol];
    }
    __syncthreads();
  }
  result.setIfInside(globalRow, globalCol, value);
}

void solve(const float* M, const float* N, float* P, int width) {
  SquareMatrix left(const_cast<float*>(M), width);
  SquareMatrix right(const_cast<float*>(N), width);
  SquareMatrix result(P, width);
  int tileCount = result.getTileCount();
  dim3 threadsPerBlock(TILE, TILE);
  dim3 blocksPerGrid(tileCount, tileCount);
  multiply<<<blocksPerGrid, threadsPerBlock>>>(left, right, result);
  CHECK(cudaGetLastError());
}
