// Lab 03 the object oriented way.
#include "check.h"

class SquareMatrix {
 public:
  SquareMatrix(const float* elements, int order) : elements_(elements), order_(order) {}
  __device__ int getOrder() const { return order_; }
  __device__ bool contains(int row, int column) const {
    return 0 <= row && row < order_ && 0 <= column && column < order_;
  }
  __device__ float getOrZero(int row, int column) const {
    return contains(row, column) ? elements_[row * order_ + column] : 0;
  }

 private:
  const float* elements_;
  int order_;
};

class TileCache {
 public:
  __device__ TileCache(float* storage, int edge) : storage_(storage), edge_(edge) {}
  __device__ void put(int row, int column, float value) { storage_[row * edge_ + column] = value; }
  __device__ float get(int row, int column) const { return storage_[row * edge_ + column]; }
  __device__ int size() const { return edge_ * edge_; }

 private:
  float* storage_;
  int edge_;
};

__global__ void multiplyKernel(SquareMatrix left, SquareMatrix right, float* result) {
  extern __shared__ float heap[];
  const int edge = blockDim.x;
  TileCache leftTile(heap, edge);
  TileCache rightTile(heap + leftTile.size(), edge);

  const int localRow = threadIdx.y, localColumn = threadIdx.x;
  const int row = blockIdx.y * edge + localRow;
  const int column = blockIdx.x * edge + localColumn;

  float sum = 0;
  int offset = 0;
  while (offset < left.getOrder()) {
    leftTile.put(localRow, localColumn, left.getOrZero(row, offset + localColumn));
    rightTile.put(localRow, localColumn, right.getOrZero(offset + localRow, column));
    __syncthreads();
    for (int index = 0; index < edge; index++) {
      sum += leftTile.get(localRow, index) * rightTile.get(index, localColumn);
    }
    __syncthreads();
    offset += edge;
  }
  if (left.contains(row, column)) {
    result[row * left.getOrder() + column] = sum;
  }
}

class Multiplication {
 public:
  explicit Multiplication(int tileEdge) : tileEdge_(tileEdge) {}
  void execute(const float* left, const float* right, float* result, int order) const {
    const dim3 block(tileEdge_, tileEdge_);
    const dim3 grid(tilesFor(order), tilesFor(order));
    multiplyKernel<<<grid, block, getSharedBytes()>>>(SquareMatrix(left, order),
                                                      SquareMatrix(right, order), result);
    CHECK(cudaGetLastError());
  }

 private:
  int tilesFor(int order) const { return (order + tileEdge_ - 1) / tileEdge_; }
  size_t getSharedBytes() const { return 2 * tileEdge_ * tileEdge_ * sizeof(float); }
  int tileEdge_;
};

void solve(const float* M, const float* N, float* P, int width) {
  Multiplication multiplication(16);
  multiplication.execute(M, N, P, width);
}
