// Lab 04, object style (I know Java best).
#include "check.h"

class MatrixView {
 public:
  __host__ __device__ MatrixView(const float* data, int rows, int cols)
      : data_(data), rows_(rows), cols_(cols) {}
  __host__ __device__ int rows() const { return rows_; }
  __host__ __device__ int cols() const { return cols_; }
  __device__ bool contains(int r, int c) const { return r < rows_ && c < cols_; }
  __device__ size_t offset(int r, int c) const { return (size_t)r * cols_ + c; }
  __device__ float getOrZero(int r, int c) const {
    return contains(r, c) ? data_[offset(r, c)] : 0.0f;
  }

 private:
  const float* data_;
  int rows_;
  int cols_;
};

class Multiplication {
 public:
  static const int SIDE = 16;

  Multiplication(MatrixView left, MatrixView right) : left_(left), right_(right) {}
  void run(float* result) const;

 private:
  MatrixView left_, right_;
};

__global__ void multiplyKernel(MatrixView left, MatrixView right, float* result) {
  const int SIDE = Multiplication::SIDE;
  __shared__ float leftTile[SIDE][SIDE];
  __shared__ float rightTile[SIDE][SIDE];

  const int localCol = threadIdx.x;
  const int localRow = threadIdx.y;
  const int globalCol = blockIdx.x * SIDE + localCol;
  const int globalRow = blockIdx.y * SIDE + localRow;

  float sum = 0.0f;
  for (int offset = 0; offset < left.cols(); offset += SIDE) {
    leftTile[localRow][localCol] = left.getOrZero(globalRow, offset + localCol);
    rightTile[localRow][localCol] = right.getOrZero(offset + localRow, globalCol);
    __syncthreads();
    for (int i = 0; i < SIDE; i++) {
      sum += leftTile[localRow][i] * rightTile[i][localCol];
    }
    __syncthreads();
  }

  const MatrixView shape(result, left.rows(), right.cols());
  if (shape.contains(globalRow, globalCol)) {
    result[shape.offset(globalRow, globalCol)] = sum;
  }
}

void Multiplication::run(float* result) const {
  dim3 block(SIDE, SIDE);
  dim3 grid;
  grid.x = (right_.cols() + SIDE - 1) / SIDE;
  grid.y = (left_.rows() + SIDE - 1) / SIDE;
  multiplyKernel<<<grid, block>>>(left_, right_, result);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  MatrixView left(M, j, k);
  MatrixView right(N, k, l);
  Multiplication(left, right).run(P);
}
