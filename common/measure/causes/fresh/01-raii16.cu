// Modern C++: RAII buffers, one-dimensional blocks
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

static void must(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
  }
}

class DeviceMatrix {
 public:
  explicit DeviceMatrix(int order) : count_(static_cast<size_t>(order) * order) {
    must(cudaMalloc(reinterpret_cast<void**>(&data_), size()), "malloc");
  }
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;
  ~DeviceMatrix() { cudaFree(data_); }

  void upload(const float* src) {
    must(cudaMemcpy(data_, src, size(), cudaMemcpyHostToDevice), "upload");
  }
  void download(float* dst) const {
    must(cudaMemcpy(dst, data_, size(), cudaMemcpyDeviceToHost), "download");
  }
  float* get() { return data_; }
  size_t size() const { return count_ * sizeof(float); }

 private:
  float* data_ = nullptr;
  size_t count_;
};

__device__ float dot(const float* row, const float* column, int n) {
  float acc = 0.0f;
  for (const float* end = row + n; row != end; ++row, column += n) {
    acc = fmaf(*row, *column, acc);
  }
  return acc;
}

// each thread owns the elements id, id + threads, id + 2 threads ...
__global__ void multiply(const float* a, const float* b, float* c, int n) {
  const int total = n * n;
  const int stride = gridDim.x * blockDim.x;
  for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < total; id += stride) {
    const int r = id / n;
    const int q = id - r * n;
    c[id] = dot(a + r * n, b + q, n);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  DeviceMatrix a(width), b(width), c(width);
  a.upload(M);
  b.upload(N);

  constexpr int threads = 128;
  const int blocks = (width * width + threads - 1) / threads;
  multiply<<<blocks, threads>>>(a.get(), b.get(), c.get(), width);
  must(cudaGetLastError(), "launch");
  c.download(P);
}
