// Lab 01 - modern C++ flavour: RAII buffers, views, no naked cudaFree.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

static void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(EXIT_FAILURE);
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    must(cudaMalloc(&data_, bytes()), "allocate");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  void upload(const T* host) {
    must(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice), "upload");
  }
  void download(T* host) const {
    must(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost), "download");
  }
  T* get() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

template <typename T>
struct SquareView {
  T* base;
  int side;
  __device__ T& operator()(int r, int c) const { return base[r * side + c]; }
  __device__ bool contains(int r, int c) const { return r < side && c < side; }
};

template <typename T>
__global__ void dot_rows_with_columns(SquareView<const T> lhs, SquareView<const T> rhs,
                                      SquareView<T> out) {
  const int c = threadIdx.x + blockDim.x * blockIdx.x;
  const int r = threadIdx.y + blockDim.y * blockIdx.y;
  if (!out.contains(r, c)) return;

  T total{};
  for (int i = 0; i != out.side; ++i) total += lhs(r, i) * rhs(i, c);
  out(r, c) = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t count = static_cast<std::size_t>(width) * width;
  DeviceArray<float> lhs(count), rhs(count), out(count);
  lhs.upload(M);
  rhs.upload(N);

  const auto cover = [width](unsigned size) { return (width + size - 1) / size; };
  const dim3 threads(32, 8);
  const dim3 blocks(cover(threads.x), cover(threads.y));
  dot_rows_with_columns<float><<<blocks, threads>>>({lhs.get(), width}, {rhs.get(), width},
                                                    {out.get(), width});
  must(cudaGetLastError(), "launch");
  out.download(P);
}
