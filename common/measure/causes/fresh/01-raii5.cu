// Lab 01. Modern C++: buffers own their memory, the kernel walks with pointers.
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include <cuda_runtime.h>

namespace {

void verify(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n) {
    verify(cudaMalloc(&ptr_, n_ * sizeof(T)), "cudaMalloc");
  }
  DeviceArray(const T* host, std::size_t n) : DeviceArray(n) { upload(host); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(ptr_); }

  void upload(const T* host) {
    verify(cudaMemcpy(ptr_, host, n_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  void download(T* host) const {
    verify(cudaMemcpy(host, ptr_, n_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
  }
  T* get() { return ptr_; }
  const T* get() const { return ptr_; }

 private:
  T* ptr_ = nullptr;
  std::size_t n_;
};

constexpr unsigned kBlockX = 32;
constexpr unsigned kBlockY = 4;

__global__ void gemm(const float* __restrict__ lhs, const float* __restrict__ rhs,
                     float* __restrict__ out, int n) {
  const int x = threadIdx.x + blockDim.x * blockIdx.x;
  const int y = threadIdx.y + blockDim.y * blockIdx.y;
  if (x < n && y < n) {
    const float* a = lhs + y * n;
    const float* const a_end = a + n;
    const float* b = rhs + x;
    float dot = 0.f;
    for (; a != a_end; ++a, b += n) {
      dot = fmaf(*a, *b, dot);
    }
    out[y * n + x] = dot;
  }
}

constexpr unsigned tiles(unsigned extent, unsigned block) {
  return extent / block + (extent % block ? 1u : 0u);
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto elements = static_cast<std::size_t>(width) * width;
  const DeviceArray<float> lhs(M, elements);
  const DeviceArray<float> rhs(N, elements);
  DeviceArray<float> out(elements);

  const dim3 threads{kBlockX, kBlockY};
  const dim3 blocks{tiles(width, kBlockX), tiles(width, kBlockY)};
  gemm<<<blocks, threads>>>(lhs.get(), rhs.get(), out.get(), width);
  verify(cudaGetLastError(), "launch");

  out.download(P);
}
