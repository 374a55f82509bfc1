// Lab 01, with buffers that free themselves and a stream of its own.
#include <stdexcept>

#include "check.h"

namespace {

void must(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}

template <typename T>
class DeviceVector {
 public:
  explicit DeviceVector(size_t count) : count_(count) { must(cudaMalloc(&data_, count * sizeof(T))); }
  ~DeviceVector() { cudaFree(data_); }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;

  void upload(const T* host, cudaStream_t s) {
    must(cudaMemcpyAsync(data_, host, count_ * sizeof(T), cudaMemcpyHostToDevice, s));
  }
  void download(T* host, cudaStream_t s) const {
    must(cudaMemcpyAsync(host, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, s));
  }
  T* get() { return data_; }

 private:
  T* data_ = nullptr;
  size_t count_;
};

struct Square {
  const float* p;
  int side;
  __device__ const float* rowBegin(int r) const { return p + r * side; }
  __device__ float at(int r, int c) const { return rowBegin(r)[c]; }
};

__global__ void product(Square lhs, Square rhs, float* out) {
  const int side = lhs.side;
  const auto y = blockDim.y * blockIdx.y + threadIdx.y;
  const auto x = blockDim.x * blockIdx.x + threadIdx.x;
  const bool mine = y < side && x < side;
  if (!mine) return;

  float acc{};
  const float* l = lhs.rowBegin(y);
  for (int i = 0; i != side; ++i) acc = fmaf(l[i], rhs.at(i, x), acc);
  out[y * side + x] = acc;
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = static_cast<size_t>(width) * width;
  cudaStream_t stream;
  must(cudaStreamCreate(&stream));
  {
    DeviceVector<float> m(count), n(count), p(count);
    m.upload(M, stream);
    n.upload(N, stream);

    const dim3 threads{32, 8};
    const dim3 blocks{(width + threads.x - 1) / threads.x, (width + threads.y - 1) / threads.y};
    product<<<blocks, threads, 0, stream>>>(Square{m.get(), width}, Square{n.get(), width}, p.get());
    must(cudaGetLastError());

    p.download(P, stream);
    must(cudaStreamSynchronize(stream));
  }
  must(cudaStreamDestroy(stream));
}
