// device memory with an owner that can only be moved
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "check.h"

template <typename T>
class DeviceVector {
 public:
  explicit DeviceVector(std::size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count_ * sizeof(T))); }
  DeviceVector(const T* host, std::size_t count) : DeviceVector(count) { assign(host); }
  DeviceVector(DeviceVector&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceVector(const DeviceVector&) = delete;
  ~DeviceVector() { cudaFree(data_); }

  void assign(const T* host) { CHECK(cudaMemcpy(data_, host, size_bytes(), cudaMemcpyHostToDevice)); }
  void fetch(T* host) const { CHECK(cudaMemcpy(host, data_, size_bytes(), cudaMemcpyDeviceToHost)); }
  std::size_t size_bytes() const { return count_ * sizeof(T); }
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

template <unsigned BX, unsigned BY>
__global__ void kernel(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  if (x >= n || y >= n) return;
  float v = 0.0f;
  for (int t = 0; t != n; ++t) v = fmaf(a[y * n + t], b[t * n + x], v);
  c[y * n + x] = v;
}

template <unsigned BX, unsigned BY>
void launch(const DeviceVector<float>& a, const DeviceVector<float>& b, DeviceVector<float>& c, int n) {
  const dim3 block(BX, BY);
  const dim3 grid((n + BX - 1) / BX, (n + BY - 1) / BY);
  kernel<BX, BY><<<grid, block>>>(a.data(), b.data(), c.data(), n);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t count = std::size_t(width) * width;
  DeviceVector<float> m(M, count);
  DeviceVector<float> n(N, count);
  DeviceVector<float> p(count);
  launch<32, 4>(m, n, p, width);
  p.fetch(P);
}
