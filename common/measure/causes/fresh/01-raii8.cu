// Lab 01. I come from C++17 on servers, so no naked cudaFree in here.
#include <cstdio>
#include <cstdlib>
#include <cstddef>

namespace {

void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(code));
  std::exit(EXIT_FAILURE);
}

class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    must(cudaMalloc(reinterpret_cast<void**>(&ptr_), size()), "cudaMalloc");
  }
  ~DeviceArray() { cudaFree(ptr_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  std::size_t size() const { return count_ * sizeof(float); }
  float* get() const { return ptr_; }
  void upload(const float* from) {
    must(cudaMemcpy(ptr_, from, size(), cudaMemcpyHostToDevice), "upload");
  }
  void download(float* to) const {
    must(cudaMemcpy(to, ptr_, size(), cudaMemcpyDeviceToHost), "download");
  }

 private:
  float* ptr_ = nullptr;
  std::size_t count_;
};

// Flat numbering: thread id is the number of the element of the product.
__global__ void multiply(const float* a, const float* b, float* c, unsigned n) {
  const unsigned total = n * n;
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned id = blockIdx.x * blockDim.x + threadIdx.x; id < total; id += stride) {
    const unsigned y = id / n;
    const unsigned x = id - y * n;
    const float* left = a + y * n;
    const float* down = b + x;
    float acc = 0.f;
    for (unsigned step = 0; step != n; ++step) {
      acc += *left * *down;
      left += 1;
      down += n;
    }
    c[id] = acc;
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t elements = static_cast<std::size_t>(width) * width;
  DeviceArray a(elements), b(elements), c(elements);
  a.upload(M);
  b.upload(N);
  constexpr unsigned per_block = 256;
  const unsigned groups = static_cast<unsigned>((elements + per_block - 1) / per_block);
  multiply<<<groups, per_block>>>(a.get(), b.get(), c.get(), width);
  must(cudaGetLastError(), "launch");
  c.download(P);
}
