// Lab 01, modern C++: owning buffers, one stream, one-dimensional blocks.
#include <cstddef>
#include <stdexcept>
#include <string>

inline void ok(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(e));
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) { ok(cudaMalloc(&ptr_, size_bytes())); }
  ~DeviceArray() { cudaFree(ptr_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void upload(const T* host) {
    ok(cudaMemcpy(ptr_, host, size_bytes(), cudaMemcpyHostToDevice));
  }
  void download(T* host) const {
    ok(cudaMemcpy(host, ptr_, size_bytes(), cudaMemcpyDeviceToHost));
  }
  T* get() const { return ptr_; }
  std::size_t size_bytes() const { return count_ * sizeof(T); }

 private:
  T* ptr_ = nullptr;
  std::size_t count_;
};

struct Cell {
  int row, col;
};

__device__ inline Cell cell_of(int id, int width) {
  return {id / width, id % width};
}

__global__ void multiply(const float* __restrict__ left, const float* __restrict__ right,
                         float* __restrict__ result, int width) {
  const int total = width * width;
  const int step = gridDim.x * blockDim.x;
  for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < total; id += step) {
    const Cell cell = cell_of(id, width);
    float dot = 0.f;
    for (int i = 0; i < width; i++)
      dot = fmaf(left[cell.row * width + i], right[i * width + cell.col], dot);
    result[id] = dot;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t elements = std::size_t(width) * width;
  DeviceArray<float> left(elements), right(elements), result(elements);
  left.upload(M);
  right.upload(N);

  constexpr unsigned threads = 256;
  const unsigned blocks = unsigned((elements + threads - 1) / threads);
  multiply<<<blocks, threads>>>(left.get(), right.get(), result.get(), width);
  ok(cudaGetLastError());

  result.download(P);
}
