// matrices that own their memory; what goes in and out is staged in a std::vector
#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#define TRY(call)                                                                             \
  do {                                                                                        \
    const cudaError_t status = (call);                                                        \
    if (status != cudaSuccess)                                                                \
      throw std::runtime_error(std::string(#call) + ": " + cudaGetErrorString(status));       \
  } while (0)

class DeviceMatrix {
 public:
  DeviceMatrix(size_t rows, size_t cols) : rows_(rows), cols_(cols) {
    TRY(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
  }
  DeviceMatrix(const DeviceMatrix&) = delete;
  ~DeviceMatrix() { cudaFree(data_); }

  size_t count() const { return rows_ * cols_; }
  size_t bytes() const { return count() * sizeof(float); }
  float* get() { return data_; }

  void assign(const std::vector<float>& from) {
    TRY(cudaMemcpy(data_, from.data(), bytes(), cudaMemcpyHostToDevice));
  }
  std::vector<float> read() const {
    std::vector<float> out(count());
    TRY(cudaMemcpy(out.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  float* data_ = nullptr;
  size_t rows_, cols_;
};

__global__ void dotKernel(const float* a, const float* b, float* c, size_t n) {
  const size_t col = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
  if (col >= n || row >= n) return;
  float dot = 0.0f;
  for (size_t i = 0; i < n; ++i) dot += a[row * n + i] * b[i * n + col];
  c[row * n + col] = dot;
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t n = width, all = n * n;
  const std::vector<float> left(M, M + all), right(N, N + all);
  DeviceMatrix a(n, n), b(n, n), c(n, n);
  a.assign(left);
  b.assign(right);
  const dim3 threads(32, 8);
  const dim3 blocks((n + threads.x - 1) / threads.x, (n + threads.y - 1) / threads.y);
  dotKernel<<<blocks, threads>>>(a.get(), b.get(), c.get(), n);
  TRY(cudaGetLastError());
  const std::vector<float> result = c.read();
  std::copy(result.begin(), result.end(), P);
}
