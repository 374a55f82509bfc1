// Lab 01 by someone who usually writes Rust: memory has an owner.
#include <cstddef>

#include "check.h"

template <typename T>
class Owned {
 public:
  explicit Owned(std::size_t count) : count_(count) { CHECK(cudaMalloc(&ptr_, bytes())); }
  ~Owned() { cudaFree(ptr_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  void upload(const T* src) { CHECK(cudaMemcpy(ptr_, src, bytes(), cudaMemcpyHostToDevice)); }
  void download(T* dst) const { CHECK(cudaMemcpy(dst, ptr_, bytes(), cudaMemcpyDeviceToHost)); }
  T* get() { return ptr_; }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }
  T* ptr_ = nullptr;
  std::size_t count_;
};

struct Pos {
  unsigned row, col;
};

__device__ inline Pos whoami() {
  return Pos{blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x};
}

__global__ void mul(const float* __restrict__ lhs, const float* __restrict__ rhs, float* out,
                    unsigned n) {
  const Pos me = whoami();
  if (me.row < n && me.col < n) {
    const float* a = lhs + me.row * n;
    const float* const end = a + n;
    const float* b = rhs + me.col;
    float total = 0.f;
    for (; a != end; ++a, b += n) total = fmaf(*a, *b, total);
    out[me.row * n + me.col] = total;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const unsigned n = static_cast<unsigned>(width);
  const std::size_t count = static_cast<std::size_t>(n) * n;

  Owned<float> lhs(count), rhs(count), out(count);
  lhs.upload(M);
  rhs.upload(N);

  const dim3 threads(32, 8);
  auto cover = [n](unsigned piece) { return n / piece + (n % piece != 0 ? 1u : 0u); };
  const dim3 blocks(cover(threads.x), cover(threads.y));
  mul<<<blocks, threads>>>(lhs.get(), rhs.get(), out.get(), n);
  CHECK(cudaGetLastError());

  out.download(P);
}
