// Lab 01, modern C++: RAII buffers, a grid-stride loop over rows.
#include <cstdio>
#include <cstdlib>

static void verify(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(status));
  std::exit(EXIT_FAILURE);
}

template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t count) : count_(count) {
    verify(cudaMalloc(&data_, count_ * sizeof(T)), "cudaMalloc");
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void upload(const T* host) {
    verify(cudaMemcpy(data_, host, count_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  void download(T* host) const {
    verify(cudaMemcpy(host, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
  }
  T* get() { return data_; }

 private:
  T* data_ = nullptr;
  size_t count_;
};

__device__ float dot(const float* row, const float* column, int length, int stride) {
  float result = 0.0f;
  for (int i = 0; i < length; ++i) result += row[i] * column[i * stride];
  return result;
}

__global__ void product(const float* __restrict__ lhs, const float* __restrict__ rhs,
                        float* __restrict__ out, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < size; y += gridDim.y * blockDim.y) {
    if (x < size) out[y * size + x] = dot(lhs + y * size, rhs + x, size, size);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t elements = static_cast<size_t>(width) * width;
  DeviceBuffer<float> lhs(elements), rhs(elements), out(elements);
  lhs.upload(M);
  rhs.upload(N);

  const dim3 threads(32, 8);
  const dim3 blocks((width - 1) / threads.x + 1, (width - 1) / threads.y + 1);
  product<<<blocks, threads>>>(lhs.get(), rhs.get(), out.get(), width);
  verify(cudaGetLastError(), "launch");
  out.download(P);
}
