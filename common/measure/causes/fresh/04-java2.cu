// Rectangular product. Everything that belongs to a matrix is in class Matrix.
#include "check.h"

class Matrix {
 public:
  __host__ __device__ Matrix(const float* values, int numRows, int numCols)
      : values_(values), numRows_(numRows), numCols_(numCols) {}
  __host__ __device__ int getNumRows() const { return numRows_; }
  __host__ __device__ int getNumCols() const { return numCols_; }
  __device__ float getOrZero(int rowIndex, int colIndex) const {
    bool inside = rowIndex < numRows_ && colIndex < numCols_;
    return inside ? values_[offset(rowIndex, colIndex)] : 0.0f;
  }
  __device__ long long offset(int rowIndex, int colIndex) const {
    return (long long)rowIndex * numCols_ + colIndex;
  }

 private:
  const float* values_;
  int numRows_;
  int numCols_;
};

class Config {
 public:
  static constexpr int TILE_SIZE = 16;
  static constexpr int THREADS = TILE_SIZE * TILE_SIZE;
  static int tilesFor(int length) { return 1 + (length - 1) / TILE_SIZE; }
};

__global__ void multiplyKernel(Matrix left, Matrix right, float* result) {
  __shared__ float leftTile[Config::TILE_SIZE][Config::TILE_SIZE];
  __shared__ float rightTile[Config::TILE_SIZE][Config::TILE_SIZE];

  int localRow = threadIdx.x / Config::TILE_SIZE;
  int localCol = threadIdx.x % Config::TILE_SIZE;
  int globalRow = blockIdx.y * Config::TILE_SIZE + localRow;
  int globalCol = blockIdx.x * Config::TILE_SIZE + localCol;
  int depth = left.getNumCols();

  float total = 0.0f;
  for (int start = 0; start < depth; start += Config::TILE_SIZE) {
    leftTile[localRow][localCol] = left.getOrZero(globalRow, start + localCol);
    rightTile[localRow][localCol] = right.getOrZero(start + localRow, globalCol);
    __syncthreads();
    for (int index = 0; index < Config::TILE_SIZE; index++) {
      total += leftTile[localRow][index] * rightTile[index][localCol];
    }
    __syncthreads();
  }

  if (globalRow < left.getNumRows() && globalCol < right.getNumCols()) {
    Matrix shape(result, left.getNumRows(), right.getNumCols());
    result[shape.offset(globalRow, globalCol)] = total;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Matrix left(M, j, k);
  Matrix right(N, k, l);
  dim3 gridSize(Config::tilesFor(right.getNumCols()), Config::tilesFor(left.getNumRows()));
  multiplyKernel<<<gridSize, Config::THREADS>>>(left, right, P);
  CHECK(cudaGetLastError());
}
