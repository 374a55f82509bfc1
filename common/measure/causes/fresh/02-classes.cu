// Everything in its class, as we do at work.
#include "check.h"

template <int SIZE>
struct SquareTile {
  float cell[SIZE][SIZE];

  __device__ void fetch(const float* matrix, int stride, int tileRow, int tileCol) {
    int globalRow = tileRow * SIZE + threadIdx.y;
    int globalCol = tileCol * SIZE + threadIdx.x;
    cell[threadIdx.y][threadIdx.x] = matrix[globalRow * stride + globalCol];
  }
};

template <int SIZE>
class Accumulator {
 public:
  __device__ Accumulator() : value(0.0f) {}
  __device__ void addProduct(const SquareTile<SIZE>& left, const SquareTile<SIZE>& right) {
#pragma unroll
    for (int step = 0; step < SIZE; step++) {
      value += left.cell[threadIdx.y][step] * right.cell[step][threadIdx.x];
    }
  }
  __device__ float result() const { return value; }

 private:
  float value;
};

template <int SIZE>
__global__ void multiplyTiles(const float* left, const float* right, float* result, int width) {
  __shared__ SquareTile<SIZE> leftTile;
  __shared__ SquareTile<SIZE> rightTile;
  Accumulator<SIZE> accumulator;
  int tiles = width / SIZE;
  for (int i = 0; i < tiles; i++) {
    leftTile.fetch(left, width, blockIdx.y, i);
    rightTile.fetch(right, width, i, blockIdx.x);
    __syncthreads();
    accumulator.addProduct(leftTile, rightTile);
    __syncthreads();
  }
  int myRow = blockIdx.y * SIZE + threadIdx.y;
  int myCol = blockIdx.x * SIZE + threadIdx.x;
  result[myRow * width + myCol] = accumulator.result();
}

template <int SIZE>
void launchMultiply(const float* left, const float* right, float* result, int width) {
  int count = width / SIZE;
  multiplyTiles<SIZE><<<dim3(count, count), dim3(SIZE, SIZE)>>>(left, right, result, width);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int TILE_SIZE = 32;
  launchMultiply<TILE_SIZE>(M, N, P, width);
}
