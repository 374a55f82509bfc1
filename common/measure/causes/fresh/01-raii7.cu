// Lab 01 - modern C++ style: a buffer class owns the device memory.
#include <stdexcept>
#include <string>

namespace {

void ensure(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    ensure(cudaMalloc(&data_, count_ * sizeof(T)));
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  void upload(const T* host, cudaStream_t stream) {
    ensure(cudaMemcpyAsync(data_, host, count_ * sizeof(T), cudaMemcpyHostToDevice, stream));
  }
  void download(T* host, cudaStream_t stream) const {
    ensure(cudaMemcpyAsync(host, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, stream));
  }
  T* get() { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// A square matrix as a kernel sees it.
template <typename T>
struct Square {
  T* data;
  int side;
  __device__ T& operator()(int r, int c) const { return data[r * side + c]; }
  __device__ bool contains(int r, int c) const { return r < side && c < side; }
};

__global__ void multiply(Square<const float> lhs, Square<const float> rhs, Square<float> out) {
  const auto r = static_cast<int>(threadIdx.y + blockIdx.y * blockDim.y);
  const auto c = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (!out.contains(r, c)) return;

  auto acc = 0.0f;
  for (auto i = 0; i != lhs.side; ++i) acc += lhs(r, i) * rhs(i, c);
  out(r, c) = acc;
}

constexpr unsigned roundUpDiv(unsigned a, unsigned b) { return a / b + (a % b ? 1u : 0u); }

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto count = static_cast<std::size_t>(width) * width;
  cudaStream_t stream;
  ensure(cudaStreamCreate(&stream));
  {
    DeviceBuffer<float> m(count), n(count), p(count);
    m.upload(M, stream);
    n.upload(N, stream);

    const dim3 threads{32, 8};
    const dim3 blocks{roundUpDiv(width, threads.x), roundUpDiv(width, threads.y)};
    multiply<<<blocks, threads, 0, stream>>>({m.get(), width}, {n.get(), width}, {p.get(), width});
    ensure(cudaGetLastError());

    p.download(P, stream);
    ensure(cudaStreamSynchronize(stream));
  }
  ensure(cudaStreamDestroy(stream));
}
