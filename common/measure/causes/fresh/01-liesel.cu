// Lab 01, Liesel: modern C++, flat index, everything owned by objects
#include <memory>
#include <utility>
#include "check.h"

namespace {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count * sizeof(T))); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  void upload(const T* host) {
    CHECK(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice));
  }
  void download(T* host) const {
    CHECK(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost));
  }
  T* get() { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  size_t count_;
};

struct Cell {
  int row, col;
};

__device__ Cell cell_of(int index, int width) {
  return {index / width, index % width};
}

__global__ void multiply(const float* lhs, const float* rhs, float* result, int width) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= width * width) return;
  const auto [row, col] = cell_of(index, width);

  float dot = 0.f;
  for (int k = 0, r = col; k < width; ++k, r += width) {
    dot += lhs[row * width + k] * rhs[r];
  }
  result[index] = dot;
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = static_cast<size_t>(width) * width;
  DeviceArray<float> lhs(count), rhs(count), result(count);
  lhs.upload(M);
  rhs.upload(N);

  constexpr int kThreads = 256;
  const int blocks = static_cast<int>((count + kThreads - 1) / kThreads);
  multiply<<<blocks, kThreads>>>(lhs.get(), rhs.get(), result.get(), width);
  CHECK(cudaPeekAtLastError());

  result.download(P);
}
