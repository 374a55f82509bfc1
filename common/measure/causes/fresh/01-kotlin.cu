// Lab 01 with a small owning buffer, in the manner I know from Kotlin's `use`.
#include <stdexcept>
#include <string>
#include <utility>
#include "check.h"

namespace {

inline void ensure(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("cuda: ") + cudaGetErrorString(status));
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { ensure(cudaMalloc(&data_, count * sizeof(T))); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  DeviceArray& upload(const T* src, cudaStream_t s) {
    ensure(cudaMemcpyAsync(data_, src, bytes(), cudaMemcpyHostToDevice, s));
    return *this;
  }
  void download(T* dst, cudaStream_t s) const {
    ensure(cudaMemcpyAsync(dst, data_, bytes(), cudaMemcpyDeviceToHost, s));
  }
  T* get() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }

 private:
  size_t count_;
  T* data_ = nullptr;
};

struct Spot {
  int r, c;
  __device__ bool within(int n) const { return r < n && c < n; }
};

__device__ Spot here() {
  return {int(blockIdx.y * blockDim.y + threadIdx.y), int(blockIdx.x * blockDim.x + threadIdx.x)};
}

__global__ void product(const float* left, const float* right, float* out, int n) {
  const Spot me = here();
  if (!me.within(n)) return;
  auto acc = 0.f;
  for (int i = n - 1; i >= 0; i--) acc = fmaf(left[me.r * n + i], right[i * n + me.c], acc);
  out[me.r * n + me.c] = acc;
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const size_t area = size_t(width) * width;
  cudaStream_t queue;
  ensure(cudaStreamCreate(&queue));
  {
    DeviceArray<float> left(area), right(area), out(area);
    left.upload(M, queue);
    right.upload(N, queue);

    constexpr unsigned bx = 32, by = 8;
    const unsigned n = width;
    product<<<dim3((n + bx - 1) / bx, (n + by - 1) / by), dim3(bx, by), 0, queue>>>(left.get(), right.get(),
                                                                                  out.get(), width);
    ensure(cudaGetLastError());
    out.download(P, queue);
    ensure(cudaStreamSynchronize(queue));
  }
  ensure(cudaStreamDestroy(queue));
}
