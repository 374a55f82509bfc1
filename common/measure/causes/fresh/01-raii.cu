// product with buffers and a stream that clean up after themselves
#include <cuda_runtime.h>

#include <cstdlib>
#include <iostream>
#include <utility>

namespace gpu {

inline void check(cudaError_t e, int line) {
  if (e == cudaSuccess) return;
  std::cerr << "line " << line << ": " << cudaGetErrorString(e) << "\n";
  std::abort();
}
#define GPU(x) gpu::check((x), __LINE__)

class Stream {
 public:
  Stream() { GPU(cudaStreamCreate(&s_)); }
  ~Stream() { cudaStreamDestroy(s_); }
  operator cudaStream_t() const { return s_; }
  void wait() const { GPU(cudaStreamSynchronize(s_)); }

 private:
  cudaStream_t s_;
};

template <typename T>
class Array {
 public:
  Array(size_t n, cudaStream_t on) : n_(n), on_(on) { GPU(cudaMalloc(&p_, n * sizeof(T))); }
  Array(const Array&) = delete;
  ~Array() { cudaFree(p_); }
  void copyFrom(const T* h) { GPU(cudaMemcpyAsync(p_, h, n_ * sizeof(T), cudaMemcpyHostToDevice, on_)); }
  void copyTo(T* h) const { GPU(cudaMemcpyAsync(h, p_, n_ * sizeof(T), cudaMemcpyDeviceToHost, on_)); }
  operator T*() { return p_; }

 private:
  T* p_ = nullptr;
  size_t n_;
  cudaStream_t on_;
};

}  // namespace gpu

__global__ void product(const float* m, const float* n, float* p, unsigned w) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < w) {
    float v = 0;
    for (unsigned i = 0; i < w; ++i) v += m[y * w + i] * n[i * w + x];
    p[y * w + x] = v;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  gpu::Stream stream;
  const size_t elements = static_cast<size_t>(width) * width;
  gpu::Array<float> m(elements, stream), n(elements, stream), p(elements, stream);
  m.copyFrom(M);
  n.copyFrom(N);
  const dim3 block{32, 4};
  const dim3 grid{(width + block.x - 1) / block.x, (width + block.y - 1) / block.y};
  product<<<grid, block, 0, stream>>>(m, n, p, width);
  GPU(cudaGetLastError());
  p.copyTo(P);
  stream.wait();
}
