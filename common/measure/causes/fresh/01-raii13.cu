// Naive product, host side in the RAII manner.
#include <cstddef>
#include <utility>
#include "check.h"

namespace {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    CHECK(cudaMalloc(&data_, count_ * sizeof(T)));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  void upload(const T* host, cudaStream_t s) {
    CHECK(cudaMemcpyAsync(data_, host, count_ * sizeof(T), cudaMemcpyHostToDevice, s));
  }
  void download(T* host, cudaStream_t s) const {
    CHECK(cudaMemcpyAsync(host, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, s));
  }
  T* get() { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

struct Pos {
  int y, x;
};

__device__ Pos whereAmI() {
  return {int(blockIdx.y * blockDim.y + threadIdx.y), int(blockIdx.x * blockDim.x + threadIdx.x)};
}

__global__ void dotKernel(const float* lhs, const float* rhs, float* out, int dim) {
  const auto [y, x] = whereAmI();
  if (y < dim && x < dim) {
    const float* across = lhs + y * dim;
    const float* const stop = across + dim;
    const float* down = rhs + x;
    float total{};
    while (across != stop) {
      total += *across++ * *down;
      down += dim;
    }
    out[y * dim + x] = total;
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t elements = std::size_t(width) * width;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  {
    DeviceArray<float> left(elements), right(elements), result(elements);
    left.upload(M, stream);
    right.upload(N, stream);

    const dim3 threads{32, 8};
    const auto cover = [width](unsigned step) { return (width - 1) / step + 1; };
    const dim3 blocks{cover(threads.x), cover(threads.y)};
    dotKernel<<<blocks, threads, 0, stream>>>(left.get(), right.get(), result.get(), width);
    CHECK(cudaGetLastError());

    result.download(P, stream);
    CHECK(cudaStreamSynchronize(stream));
  }
  CHECK(cudaStreamDestroy(stream));
}
