// lab 01, from a Rust person: ownership first
#include <cuda_runtime.h>
#include <stdexcept>
#include <string>

namespace {

void unwrap(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(std::string("cuda: ") + cudaGetErrorString(e));
}

// Box<[f32]> on the device
class DevBox {
 public:
  explicit DevBox(size_t len) : len_(len) { unwrap(cudaMalloc(&ptr_, len_ * sizeof(float))); }
  ~DevBox() { cudaFree(ptr_); }
  DevBox(const DevBox&) = delete;
  DevBox& operator=(const DevBox&) = delete;

  void upload(const float* src, cudaStream_t s) {
    unwrap(cudaMemcpyAsync(ptr_, src, len_ * sizeof(float), cudaMemcpyHostToDevice, s));
  }
  void download(float* dst, cudaStream_t s) const {
    unwrap(cudaMemcpyAsync(dst, ptr_, len_ * sizeof(float), cudaMemcpyDeviceToHost, s));
  }
  float* as_mut() { return ptr_; }
  const float* as_ref() const { return ptr_; }

 private:
  float* ptr_ = nullptr;
  size_t len_;
};

struct Pos {
  unsigned i, j;  // i down, j to the right
};

__device__ Pos my_pos() {
  return Pos{blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x};
}

__global__ void gemm(const float* lhs, const float* rhs, float* out, unsigned n) {
  const Pos me = my_pos();
  if (me.i < n && me.j < n) {
    float s = 0;
    for (unsigned q = 0, l = me.i * n, r = me.j; q != n; ++q, ++l, r += n) {
      s = fmaf(lhs[l], rhs[r], s);
    }
    out[me.i * n + me.j] = s;
  }
}

constexpr unsigned BX = 32, BY = 4;

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const size_t len = size_t(width) * width;
  cudaStream_t s;
  unwrap(cudaStreamCreate(&s));
  {
    DevBox lhs(len), rhs(len), out(len);
    lhs.upload(M, s);
    rhs.upload(N, s);
    const dim3 threads(BX, BY);
    const dim3 blocks((width + BX - 1) / BX, (width + BY - 1) / BY);
    gemm<<<blocks, threads, 0, s>>>(lhs.as_ref(), rhs.as_ref(), out.as_mut(), width);
    unwrap(cudaGetLastError());
    out.download(P, s);
    unwrap(cudaStreamSynchronize(s));
  }
  unwrap(cudaStreamDestroy(s));
}
