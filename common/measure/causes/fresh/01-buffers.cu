#include <cuda_runtime.h>

#include <stdexcept>
#include <utility>

inline void ok(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(what);
}
#define OK(call) ok(call, #call)

template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) { OK(cudaMalloc((void**)&p_, count_ * sizeof(T))); }
  Buffer(Buffer&& other) noexcept : p_(std::exchange(other.p_, nullptr)), count_(other.count_) {}
  ~Buffer() {
    if (p_ != nullptr) cudaFree(p_);
  }
  Buffer& from(const T* host) {
    OK(cudaMemcpy(p_, host, count_ * sizeof(T), cudaMemcpyHostToDevice));
    return *this;
  }
  void to(T* host) const { OK(cudaMemcpy(host, p_, count_ * sizeof(T), cudaMemcpyDeviceToHost)); }
  T* get() { return p_; }

 private:
  T* p_ = nullptr;
  size_t count_;
};

__global__ void dot_all(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, int n) {
  const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && col < n) {
    float dot = 0.f;
    for (int i = 0; i < n; ++i) dot = fmaf(x[row * n + i], y[i * n + col], dot);
    z[row * n + col] = dot;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = size_t(width) * width;
  Buffer<float> x(count), y(count), z(count);
  x.from(M);
  y.from(N);
  const dim3 threads(8, 32);
  const dim3 blocks((width + threads.x - 1) / threads.x, (width + threads.y - 1) / threads.y);
  dot_all<<<blocks, threads>>>(x.get(), y.get(), z.get(), width);
  OK(cudaGetLastError());
  z.to(P);
}
