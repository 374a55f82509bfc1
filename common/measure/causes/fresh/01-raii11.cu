// Lab 01, modern C++: owning buffers, a stream, a kernel that works for any grid.
#include "check.h"
#include <algorithm>
#include <cstddef>

namespace {

class Stream {
 public:
  Stream() { CHECK(cudaStreamCreate(&handle_)); }
  ~Stream() { cudaStreamDestroy(handle_); }
  Stream(const Stream&) = delete;
  void wait() const { CHECK(cudaStreamSynchronize(handle_)); }
  operator cudaStream_t() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) { CHECK(cudaMalloc(&data_, bytes())); }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  void upload(const T* from, const Stream& s) {
    CHECK(cudaMemcpyAsync(data_, from, bytes(), cudaMemcpyHostToDevice, s));
  }
  void download(T* to, const Stream& s) const {
    CHECK(cudaMemcpyAsync(to, data_, bytes(), cudaMemcpyDeviceToHost, s));
  }
  T* get() const { return data_; }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::size_t count_;
  T* data_ = nullptr;
};

__device__ float dot(const float* line, const float* column, int n) {
  float total = 0.f;
  for (int q = 0; q != n; ++q) total += line[q] * column[std::size_t(q) * n];
  return total;
}

__global__ void multiply(const float* lhs, const float* rhs, float* result, int n) {
  const int stepY = gridDim.y * blockDim.y;
  const int stepX = gridDim.x * blockDim.x;
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < n; r += stepY)
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < n; c += stepX)
      result[std::size_t(r) * n + c] = dot(lhs + std::size_t(r) * n, rhs + c, n);
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto count = std::size_t(width) * width;
  Stream stream;
  Buffer<float> lhs(count), rhs(count), result(count);
  lhs.upload(M, stream);
  rhs.upload(N, stream);

  const dim3 threads(32, 8);
  const dim3 blocks(std::min(64u, (width + threads.x - 1) / threads.x),
                    std::min(64u, (width + threads.y - 1) / threads.y));
  multiply<<<blocks, threads, 0, stream>>>(lhs.get(), rhs.get(), result.get(), width);
  CHECK(cudaGetLastError());

  result.download(P, stream);
  stream.wait();
}
