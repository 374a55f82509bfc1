// Assignment 1 -- Priya N.
#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace {

void ensure(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(status));
}

// Owns device memory for `count` objects of type T.
template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    ensure(cudaMalloc(reinterpret_cast<void**>(&data_), count_ * sizeof(T)), "allocate");
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void upload(const T* host) {
    ensure(cudaMemcpy(data_, host, count_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  void download(T* host) const {
    ensure(cudaMemcpy(host, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
  }
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

template <typename T>
struct View {
  T* data;
  int stride;
  __device__ T& operator()(int r, int c) const { return data[r * stride + c]; }
};

// The grid covers only half of the rows: every thread strides down its column.
__global__ void product(View<const float> lhs, View<const float> rhs, View<float> result, int n) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = gridDim.y * blockDim.y;
  if (col >= n) return;
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < n; row += step) {
    float dot = 0.0f;
    for (int inner = 0; inner < n; ++inner) dot += lhs(row, inner) * rhs(inner, col);
    result(row, col) = dot;
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto count = static_cast<std::size_t>(width) * width;
  DeviceBuffer<float> lhs(count), rhs(count), result(count);
  lhs.upload(M);
  rhs.upload(N);

  const dim3 threads(32, 8);
  const dim3 blocks((width + threads.x - 1) / threads.x,
                    (width + 2 * threads.y - 1) / (2 * threads.y));
  product<<<blocks, threads>>>({lhs.get(), width}, {rhs.get(), width}, {result.get(), width},
                               width);
  ensure(cudaGetLastError(), "launch");
  result.download(P);
}
