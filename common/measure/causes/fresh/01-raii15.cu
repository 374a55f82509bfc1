// Lab 01 with owners instead of raw pointers.
#include <algorithm>
#include <stdexcept>

#include "check.h"

namespace {

template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    CHECK(cudaMalloc(&data_, count_ * sizeof(T)));
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void upload(const T* host) {
    CHECK(cudaMemcpy(data_, host, count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  void download(T* host) const {
    CHECK(cudaMemcpy(host, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
  }
  T* get() { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

struct View {
  const float* data;
  int side;
  __device__ float operator()(int r, int c) const { return data[r * side + c]; }
};

__global__ void product(View left, View right, float* out) {
  const int side = left.side;
  const int c = threadIdx.x + blockDim.x * blockIdx.x;
  const int r = threadIdx.y + blockDim.y * blockIdx.y;
  if (r < side && c < side) {
    float dot = 0.f;
    for (int t = 0; t != side; ++t) dot = fmaf(left(r, t), right(t, c), dot);
    out[r * side + c] = dot;
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t count = std::size_t(width) * width;
  DeviceBuffer<float> left(count), right(count), out(count);
  left.upload(M);
  right.upload(N);

  const dim3 threads(32, 8);
  const auto cover = [width](unsigned step) { return (width + step - 1) / step; };
  product<<<dim3(cover(threads.x), cover(threads.y)), threads>>>(View{left.get(), width},
                                                                 View{right.get(), width},
                                                                 out.get());
  CHECK(cudaGetLastError());
  out.download(P);
}
