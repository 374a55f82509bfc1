// Lab 01, Tomoko I. - RAII buffers, one stream, flat grid-stride kernel.
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "check.h"

namespace {

void must(cudaError_t e, const char* what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}

class Stream {
 public:
  Stream() { must(cudaStreamCreate(&s_), "stream"); }
  ~Stream() { cudaStreamDestroy(s_); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return s_; }
  void wait() const { must(cudaStreamSynchronize(s_), "wait"); }

 private:
  cudaStream_t s_{};
};

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    must(cudaMalloc(&ptr_, count_ * sizeof(T)), "malloc");
  }
  ~DeviceArray() { cudaFree(ptr_); }
  DeviceArray(const DeviceArray&) = delete;

  void load(const T* host, cudaStream_t s) {
    must(cudaMemcpyAsync(ptr_, host, bytes(), cudaMemcpyHostToDevice, s), "upload");
  }
  void store(T* host, cudaStream_t s) const {
    must(cudaMemcpyAsync(host, ptr_, bytes(), cudaMemcpyDeviceToHost, s), "download");
  }
  T* get() const { return ptr_; }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }
  T* ptr_ = nullptr;
  std::size_t count_;
};

__device__ float dot(const float* left, const float* top, int n) {
  float s = 0.f;
  for (int i = 0; i != n; ++i) s += left[i] * top[i * n];
  return s;
}

__global__ void product(const float* __restrict__ lhs, const float* __restrict__ rhs,
                        float* __restrict__ out, int n) {
  const int total = n * n;
  const int stride = gridDim.x * blockDim.x;
  for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < total; id += stride) {
    const auto r = id / n;
    const auto c = id - r * n;
    out[id] = dot(lhs + r * n, rhs + c, n);
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  constexpr unsigned kThreads = 128;
  const std::size_t count = static_cast<std::size_t>(width) * width;

  Stream stream;
  DeviceArray<float> m(count), n(count), p(count);
  m.load(M, stream);
  n.load(N, stream);

  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  product<<<blocks, kThreads, 0, stream>>>(m.get(), n.get(), p.get(), width);
  must(cudaGetLastError(), "launch");

  p.store(P, stream);
  stream.wait();
}
