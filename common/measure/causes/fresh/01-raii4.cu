#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace gpu {

inline void must(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_{count} {
    must(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "alloc");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }

  void upload(const T* src) { must(cudaMemcpy(data_, src, size(), cudaMemcpyHostToDevice), "upload"); }
  void download(T* dst) const { must(cudaMemcpy(dst, data_, size(), cudaMemcpyDeviceToHost), "download"); }
  std::size_t size() const { return count_ * sizeof(T); }
  T* get() const { return data_; }

 private:
  T* data_{nullptr};
  std::size_t count_;
};

}  // namespace gpu

template <typename T>
__device__ T dot(const T* __restrict__ x, int incx, const T* __restrict__ y, int incy, int len) {
  T acc{};
  while (len-- > 0) {
    acc += *x * *y;
    x += incx;
    y += incy;
  }
  return acc;
}

template <typename T>
__global__ void gemm(const T* lhs, const T* rhs, T* out, int n) {
  const auto c = static_cast<int>(threadIdx.x + blockDim.x * blockIdx.x);
  const auto r = static_cast<int>(threadIdx.y + blockDim.y * blockIdx.y);
  const bool mine = c < n && r < n;
  if (mine) out[r * n + c] = dot(lhs + r * n, 1, rhs + c, n, n);
}

void solve(const float* M, const float* N, float* P, int width) {
  const auto elements = static_cast<std::size_t>(width) * width;
  gpu::Buffer<float> lhs{elements}, rhs{elements}, out{elements};
  lhs.upload(M);
  rhs.upload(N);

  const dim3 threads{32, 8};
  const auto cover = [width](unsigned step) { return (static_cast<unsigned>(width) - 1u) / step + 1u; };
  const dim3 grid{cover(threads.x), cover(threads.y)};
  gemm<float><<<grid, threads>>>(lhs.get(), rhs.get(), out.get(), width);
  gpu::must(cudaPeekAtLastError(), "launch");

  out.download(P);
}
