// Lab 03. Everything in classes.
#include "check.h"

static const int SIZE = 16;

class MatrixView {
 private:
  const float* data;
  int dimension;

 public:
  __device__ MatrixView(const float* data, int dimension) : data(data), dimension(dimension) {}
  __device__ bool contains(int y, int x) const { return x < dimension && y < dimension; }
  __device__ float getOrZero(int y, int x) const {
    if (!contains(y, x)) {
      return 0.0f;
    }
    return data[y * dimension + x];
  }
};

class TileMultiplier {
 private:
  float (*left)[SIZE];
  float (*right)[SIZE];
  int localX, localY;
  float result;

 public:
  __device__ TileMultiplier(float (*l)[SIZE], float (*r)[SIZE], int x, int y)
      : left(l), right(r), localX(x), localY(y), result(0.0f) {}
  __device__ void load(float fromLeft, float fromRight) {
    left[localY][localX] = fromLeft;
    right[localY][localX] = fromRight;
    __syncthreads();
  }
  __device__ void accumulate() {
    int index = 0;
    while (index < SIZE) {
      result += left[localY][index] * right[index][localX];
      index++;
    }
    __syncthreads();
  }
  __device__ float getResult() const { return result; }
};

__global__ void multiply(const float* leftData, const float* rightData, float* output,
                         int dimension, int numberOfTiles) {
  __shared__ float leftTile[SIZE][SIZE];
  __shared__ float rightTile[SIZE][SIZE];
  MatrixView left(leftData, dimension);
  MatrixView right(rightData, dimension);
  TileMultiplier multiplier(leftTile, rightTile, threadIdx.x, threadIdx.y);

  int globalY = blockIdx.y * SIZE + threadIdx.y;
  int globalX = blockIdx.x * SIZE + threadIdx.x;
  for (int tile = 0; tile < numberOfTiles; tile++) {
    int offset = tile * SIZE;
    multiplier.load(left.getOrZero(globalY, offset + threadIdx.x),
                    right.getOrZero(offset + threadIdx.y, globalX));
    multiplier.accumulate();
  }
  if (left.contains(globalY, globalX)) {
    output[globalY * dimension + globalX] = multiplier.getResult();
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  int numberOfTiles = (width - 1) / SIZE + 1;
  dim3 threadsPerBlock(SIZE, SIZE, 1);
  dim3 blocksPerGrid(numberOfTiles, numberOfTiles, 1);
  multiply<<<blocksPerGrid, threadsPerBlock>>>(M, N, P, width, numberOfTiles);
  CHECK(cudaGetLastError());
}
