// Lab 01: naive product, C++17 style.
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace {

void ensure(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(status));
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    ensure(cudaMalloc(&data_, count_ * sizeof(T)), "allocate");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void upload(const T* host) {
    ensure(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice), "upload");
  }
  void download(T* host) const {
    ensure(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost), "download");
  }
  T* get() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

struct SquareView {
  const float* data;
  int n;
  __device__ float operator()(int y, int x) const { return data[y * n + x]; }
};

__device__ float dot(SquareView lhs, SquareView rhs, int y, int x) {
  float result = 0;
  for (int inner = 0; inner != lhs.n; ++inner) result += lhs(y, inner) * rhs(inner, x);
  return result;
}

__global__ void multiply(SquareView lhs, SquareView rhs, float* product) {
  const auto x = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  const auto y = static_cast<int>(blockDim.y * blockIdx.y + threadIdx.y);
  const bool inside = x < lhs.n && y < lhs.n;
  if (inside) product[x + y * lhs.n] = dot(lhs, rhs, y, x);
}

constexpr unsigned blocksFor(unsigned total, unsigned perBlock) {
  return total / perBlock + (total % perBlock != 0);
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto elements = static_cast<std::size_t>(width) * width;
  DeviceArray<float> left(elements), right(elements), result(elements);
  left.upload(M);
  right.upload(N);

  const dim3 threads{32, 4};
  const dim3 blocks{blocksFor(width, threads.x), blocksFor(width, threads.y)};
  multiply<<<blocks, threads>>>({left.get(), width}, {right.get(), width}, result.get());
  ensure(cudaGetLastError(), "launch");
  result.download(P);
}
