// Lab 04. Java habits: objects that know their bounds, final variables, builders.
#include "check.h"

template <typename Element>
class Matrix {
 public:
  __host__ __device__ Matrix(Element* values, int height, int width)
      : values_(values), height_(height), width_(width) {}
  __host__ __device__ int height() const { return height_; }
  __host__ __device__ int width() const { return width_; }
  __device__ float getOrDefault(int y, int x, float other) const {
    return has(y, x) ? values_[index(y, x)] : other;
  }
  __device__ void setIfPresent(int y, int x, float value) {
    if (has(y, x)) values_[index(y, x)] = value;
  }

 private:
  __device__ bool has(int y, int x) const { return !(y >= height_ || x >= width_); }
  __device__ size_t index(int y, int x) const { return static_cast<size_t>(y) * width_ + x; }
  Element* values_;
  int height_, width_;
};

class Launch {
 public:
  static constexpr int X = 32, Y = 32;
  Launch& cover(int height, int width) {
    grid_ = dim3(width / X + (width % X ? 1 : 0), height / Y + (height % Y ? 1 : 0));
    return *this;
  }
  dim3 grid() const { return grid_; }
  dim3 block() const { return dim3(X, Y); }

 private:
  dim3 grid_;
};

__global__ void multiply(Matrix<const float> a, Matrix<const float> b, Matrix<float> product) {
  constexpr int S = Launch::X;
  __shared__ float bufferA[S][S];
  __shared__ float bufferB[S][S];
  const int myX = threadIdx.x, myY = threadIdx.y;
  const int y = blockIdx.y * S + myY, x = blockIdx.x * S + myX;

  float result = 0.0f;
  for (int offset = 0; offset < a.width(); offset += S) {
    bufferA[myY][myX] = a.getOrDefault(y, offset + myX, 0.0f);
    bufferB[myY][myX] = b.getOrDefault(offset + myY, x, 0.0f);
    __syncthreads();
    for (int n = 0; n < S; n++) {
      result += bufferA[myY][n] * bufferB[n][myX];
    }
    __syncthreads();
  }
  product.setIfPresent(y, x, result);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Matrix<const float> a(M, j, k);
  Matrix<const float> b(N, k, l);
  Matrix<float> product(P, j, l);
  const Launch launch = Launch().cover(product.height(), product.width());
  multiply<<<launch.grid(), launch.block()>>>(a, b, product);
  CHECK(cudaGetLastError());
}
