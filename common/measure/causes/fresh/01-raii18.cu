// Lab 01. Device memory is owned by a small RAII class, as we do it in C++ at work.
#include "check.h"

#include <utility>

namespace {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { CHECK(cudaMalloc(&data_, bytes())); }
  DeviceArray(size_t count, const T* source) : DeviceArray(count) { upload(source); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  void upload(const T* source) { CHECK(cudaMemcpy(data_, source, bytes(), cudaMemcpyHostToDevice)); }
  void download(T* target) const {
    CHECK(cudaMemcpy(target, data_, bytes(), cudaMemcpyDeviceToHost));
  }
  T* get() { return data_; }

 private:
  size_t bytes() const { return count_ * sizeof(T); }
  size_t count_;
  T* data_ = nullptr;
};

struct Extent {
  unsigned cols, rows;
};

constexpr Extent kShape{32, 8};

__device__ float inner(const float* lhs, const float* rhs, int length, int stride) {
  float total = 0.f;
  for (int step = 0; step != length; ++step) total = fmaf(lhs[step], rhs[step * stride], total);
  return total;
}

__global__ void multiply(const float* lhs, const float* rhs, float* result, int size) {
  const int y = threadIdx.y + kShape.rows * blockIdx.y;
  const int x = threadIdx.x + kShape.cols * blockIdx.x;
  const bool mine = x < size && y < size;
  if (mine) {
    result[y * size + x] = inner(lhs + y * size, rhs + x, size, size);
  }
}

unsigned pieces(unsigned whole, unsigned part) { return (whole - 1) / part + 1; }

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = static_cast<size_t>(width) * width;
  DeviceArray<float> lhs(count, M);
  DeviceArray<float> rhs(count, N);
  DeviceArray<float> result(count);

  const dim3 threads(kShape.cols, kShape.rows);
  const dim3 blocks(pieces(width, kShape.cols), pieces(width, kShape.rows));
  multiply<<<blocks, threads>>>(lhs.get(), rhs.get(), result.get(), width);
  CHECK(cudaGetLastError());
  result.download(P);
}
