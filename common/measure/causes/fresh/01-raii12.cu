#include <stdexcept>
#include <string>
#include <utility>
#include "check.h"

namespace {

void verify(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    verify(cudaMalloc(&data_, count_ * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void upload(const T* source) {
    verify(cudaMemcpy(data_, source, size_in_bytes(), cudaMemcpyHostToDevice));
  }
  void download(T* target) const {
    verify(cudaMemcpy(target, data_, size_in_bytes(), cudaMemcpyDeviceToHost));
  }
  T* get() const { return data_; }

 private:
  std::size_t size_in_bytes() const { return count_ * sizeof(T); }
  T* data_ = nullptr;
  std::size_t count_;
};

constexpr unsigned kBlockX = 32;
constexpr unsigned kBlockY = 8;

__global__ void multiply(const float* lhs, const float* rhs, float* out, unsigned n) {
  const unsigned x = threadIdx.x + blockIdx.x * kBlockX;
  const unsigned y = threadIdx.y + blockIdx.y * kBlockY;
  if (x < n && y < n) {
    float acc{};
    for (unsigned i = 0, a = y * n, b = x; i != n; ++i, ++a, b += n) {
      acc = fmaf(lhs[a], rhs[b], acc);
    }
    out[x + y * n] = acc;
  }
}

unsigned blocks_for(unsigned n, unsigned size) { return (n - 1) / size + 1; }

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto n = static_cast<unsigned>(width);
  const auto elements = static_cast<std::size_t>(n) * n;
  DeviceArray<float> left(elements), right(elements), product(elements);
  left.upload(M);
  right.upload(N);
  const dim3 threads(kBlockX, kBlockY);
  const dim3 blocks(blocks_for(n, kBlockX), blocks_for(n, kBlockY));
  multiply<<<blocks, threads>>>(left.get(), right.get(), product.get(), n);
  verify(cudaGetLastError());
  product.download(P);
}
