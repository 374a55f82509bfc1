// Lab 04, object-oriented.
#include "check.h"

static const int SIDE = 16;

class ConstMatrix {
 private:
  const float* values;
  int rowCount;
  int columnCount;

 public:
  __host__ __device__ ConstMatrix(const float* values, int rowCount, int columnCount)
      : values(values), rowCount(rowCount), columnCount(columnCount) {}
  __host__ __device__ int rows() const { return rowCount; }
  __host__ __device__ int columns() const { return columnCount; }
  __device__ bool contains(int row, int column) const {
    return row < rowCount && column < columnCount;
  }
  __device__ float get(int row, int column) const {
    return values[(long long)row * columnCount + column];
  }
  __device__ float getOrZero(int row, int column) const {
    return contains(row, column) ? get(row, column) : 0.0f;
  }
};

__global__ void multiplyKernel(ConstMatrix left, ConstMatrix right, float* result) {
  __shared__ float leftTile[SIDE][SIDE];
  __shared__ float rightTile[SIDE][SIDE];

  int tileColumn = threadIdx.x;
  int tileRow = threadIdx.y;
  int row = blockIdx.y * blockDim.y + tileRow;
  int column = blockIdx.x * blockDim.x + tileColumn;

  float sum = 0.0f;
  for (int start = 0; start < left.columns(); start += SIDE) {
    leftTile[tileRow][tileColumn] = left.getOrZero(row, start + tileColumn);
    rightTile[tileRow][tileColumn] = right.getOrZero(start + tileRow, column);
    __syncthreads();
    for (int i = 0; i < SIDE; i++) {
      sum += leftTile[tileRow][i] * rightTile[i][tileColumn];
    }
    __syncthreads();
  }

  if (row < left.rows() && column < right.columns()) {
    result[(long long)row * right.columns() + column] = sum;
  }
}

static int numberOfTiles(int length) {
  int full = length / SIDE;
  int rest = length - full * SIDE;
  return rest == 0 ? full : full + 1;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  ConstMatrix left(M, j, k);
  ConstMatrix right(N, k, l);
  dim3 threadsPerBlock(SIDE, SIDE);
  dim3 numBlocks(numberOfTiles(right.columns()), numberOfTiles(left.rows()));
  multiplyKernel<<<numBlocks, threadsPerBlock>>>(left, right, P);
  CHECK(cudaGetLastError());
}
