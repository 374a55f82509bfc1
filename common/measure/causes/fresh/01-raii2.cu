#include "check.h"

#include <cstddef>
#include <utility>

namespace {

template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_{count} {
    CHECK(cudaMalloc(&data_, bytes()));
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  void upload(const T* host, cudaStream_t stream) {
    CHECK(cudaMemcpyAsync(data_, host, bytes(), cudaMemcpyHostToDevice, stream));
  }
  void download(T* host, cudaStream_t stream) const {
    CHECK(cudaMemcpyAsync(host, data_, bytes(), cudaMemcpyDeviceToHost, stream));
  }
  T* get() { return data_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

struct Square {
  const float* data;
  int n;
  __device__ float operator()(int r, int c) const { return data[r * n + c]; }
};

__global__ void multiply(Square lhs, Square rhs, float* result) {
  const auto n = lhs.n;
  const int c = threadIdx.x + blockDim.x * blockIdx.x;
  // every thread takes two rows, blockDim.y apart
  for (int half = 0; half < 2; ++half) {
    const int r = threadIdx.y + blockDim.y * (2 * blockIdx.y + half);
    if (r < n && c < n) {
      auto dot = 0.f;
      for (int i = 0; i != n; ++i) dot = fmaf(lhs(r, i), rhs(i, c), dot);
      result[r * n + c] = dot;
    }
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto count = static_cast<std::size_t>(width) * width;
  DeviceBuffer<float> lhs{count}, rhs{count}, result{count};

  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  lhs.upload(M, stream);
  rhs.upload(N, stream);

  const dim3 threads{32, 4};
  const dim3 blocks{(width + 31u) / 32u, (width + 7u) / 8u};
  multiply<<<blocks, threads, 0, stream>>>(Square{lhs.get(), width}, Square{rhs.get(), width},
                                           result.get());
  CHECK(cudaGetLastError());

  result.download(P, stream);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
}
