// Lab 01. Owning buffers, a stream, a span-like view.
#include <stdexcept>
#include <utility>

namespace {

void ok(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}

struct Stream {
  cudaStream_t handle{};
  Stream() { ok(cudaStreamCreate(&handle)); }
  ~Stream() { cudaStreamDestroy(handle); }
};

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) { ok(cudaMalloc(&data_, count_ * sizeof(T))); }
  Buffer(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  void upload(const T* from, cudaStream_t s) {
    ok(cudaMemcpyAsync(data_, from, count_ * sizeof(T), cudaMemcpyHostToDevice, s));
  }
  void download(T* to, cudaStream_t s) const {
    ok(cudaMemcpyAsync(to, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, s));
  }
  T* get() const { return data_; }

 private:
  size_t count_;
  T* data_ = nullptr;
};

template <typename T>
struct Square {
  T* base;
  int side;
  __device__ T& operator()(int r, int c) const { return base[r * side + c]; }
  __device__ bool holds(int r, int c) const { return r < side && c < side; }
};

__global__ void product(Square<const float> lhs, Square<const float> rhs, Square<float> result) {
  const int c = threadIdx.x + blockDim.x * blockIdx.x;
  const int r = threadIdx.y + blockDim.y * blockIdx.y;
  if (!result.holds(r, c)) return;
  auto dot = [&] {
    float total = 0;
    for (int s = 0; s != lhs.side; s++) total = fmaf(lhs(r, s), rhs(s, c), total);
    return total;
  };
  result(r, c) = dot();
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const size_t elements = size_t(width) * width;
  Stream stream;
  Buffer<float> m(elements), n(elements), p(elements);
  m.upload(M, stream.handle);
  n.upload(N, stream.handle);

  const dim3 threads{32, 4};
  const dim3 blocks{(width + threads.x - 1) / threads.x, (width + threads.y - 1) / threads.y};
  product<<<blocks, threads, 0, stream.handle>>>({m.get(), width}, {n.get(), width},
                                                 {p.get(), width});
  ok(cudaGetLastError());
  p.download(P, stream.handle);
  ok(cudaStreamSynchronize(stream.handle));
}
