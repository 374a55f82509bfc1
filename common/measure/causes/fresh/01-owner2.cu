#include <stdexcept>
#include <utility>
#include "check.h"

namespace {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    CHECK(cudaMalloc(&ptr_, count * sizeof(T)));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(ptr_); }

  void upload(const T* host) {
    CHECK(cudaMemcpy(ptr_, host, count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  void download(T* host) const {
    CHECK(cudaMemcpy(host, ptr_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
  }
  T* get() { return ptr_; }

 private:
  T* ptr_ = nullptr;
  std::size_t count_;
};

struct Size {
  int n;
  __host__ __device__ int offset(int y, int x) const { return y * n + x; }
  __host__ __device__ bool contains(int y, int x) const { return y < n && x < n; }
};

__device__ float dot(const float* lhs, const float* rhs, Size size, int y, int x) {
  float result = 0;
  for (int t = 0; t != size.n; ++t) {
    result = fmaf(lhs[size.offset(y, t)], rhs[size.offset(t, x)], result);
  }
  return result;
}

__global__ void multiply(const float* lhs, const float* rhs, float* out, Size size) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x;
  const int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (size.contains(y, x)) {
    out[size.offset(y, x)] = dot(lhs, rhs, size, y, x);
  }
}

constexpr unsigned divide_up(unsigned a, unsigned b) { return a / b + (a % b != 0); }

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t count = std::size_t(width) * width;
  DeviceArray<float> lhs(count), rhs(count), out(count);
  lhs.upload(M);
  rhs.upload(N);

  const dim3 threads{32, 8};
  const dim3 blocks{divide_up(width, threads.x), divide_up(width, threads.y)};
  multiply<<<blocks, threads>>>(lhs.get(), rhs.get(), out.get(), Size{width});
  CHECK(cudaGetLastError());
  out.download(P);
}
