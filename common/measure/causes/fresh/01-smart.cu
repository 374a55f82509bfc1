// unique_ptr with a deleter of its own
#include <cuda_runtime.h>

#include <memory>
#include <stdexcept>
#include <string>

struct DeviceFree {
  void operator()(float* p) const { cudaFree(p); }
};
using DevicePtr = std::unique_ptr<float[], DeviceFree>;

static void must(cudaError_t e, const std::string& what) {
  if (e != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(e));
}

static DevicePtr allocate(std::size_t count) {
  void* p = nullptr;
  must(cudaMalloc(&p, count * sizeof(float)), "allocate");
  return DevicePtr(static_cast<float*>(p));
}

static DevicePtr duplicate(const float* host, std::size_t count) {
  auto p = allocate(count);
  must(cudaMemcpy(p.get(), host, count * sizeof(float), cudaMemcpyHostToDevice), "duplicate");
  return p;
}

enum class Axis { rows, columns };

static unsigned blocksAlong(Axis axis, int n, dim3 block) {
  const int size = axis == Axis::rows ? block.y : block.x;
  return (n + size - 1) / size;
}

__global__ void dotProducts(const float* a, const float* b, float* c, int n) {
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n || q >= n) return;
  float v = 0.0f;
  const float* left = a + r * n;
  const float* top = b + q;
  for (int i = 0; i < n; ++i, ++left, top += n) v += *left * *top;
  c[r * n + q] = v;
}

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t count = std::size_t(width) * width;
  const auto a = duplicate(M, count);
  const auto b = duplicate(N, count);
  const auto c = allocate(count);
  const dim3 block(32, 16);
  const dim3 grid(blocksAlong(Axis::columns, width, block), blocksAlong(Axis::rows, width, block));
  dotProducts<<<grid, block>>>(a.get(), b.get(), c.get(), width);
  must(cudaGetLastError(), "launch");
  must(cudaMemcpy(P, c.get(), count * sizeof(float), cudaMemcpyDeviceToHost), "fetch");
}
