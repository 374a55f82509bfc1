#include <cuda_runtime.h>

#include <memory>
#include <stdexcept>

namespace gpu {

struct Deleter {
  void operator()(float* p) const { cudaFree(p); }
};
using Array = std::unique_ptr<float, Deleter>;

Array make(int side) {
  float* p = nullptr;
  if (cudaMalloc(&p, sizeof(float) * side * side) != cudaSuccess) throw std::runtime_error("malloc");
  return Array(p);
}

Array copy_of(const float* host, int side) {
  Array a = make(side);
  cudaMemcpy(a.get(), host, sizeof(float) * side * side, cudaMemcpyHostToDevice);
  return a;
}

}  // namespace gpu

struct Index {
  int y, x;
};

__device__ inline Index here() {
  Index i;
  i.x = threadIdx.x + blockIdx.x * blockDim.x;
  i.y = threadIdx.y + blockIdx.y * blockDim.y;
  return i;
}

__global__ void product(const float* m, const float* n, float* p, int side) {
  const auto [y, x] = here();
  if (y < side and x < side) {
    const float* row = &m[y * side];
    const float* const stop = row + side;
    const float* column = &n[x];
    float dot{0};
    while (row != stop) {
      dot += *row * *column;
      ++row;
      column += side;
    }
    p[y * side + x] = dot;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  auto m = gpu::copy_of(M, width), n = gpu::copy_of(N, width), p = gpu::make(width);
  const auto up = [](int a, int b) { return (a + b - 1) / b; };
  const dim3 block{32, 8};
  const dim3 grid(up(width, 32), up(width, 8));
  product<<<grid, block>>>(m.get(), n.get(), p.get(), width);
  cudaMemcpy(P, p.get(), sizeof(float) * width * width, cudaMemcpyDeviceToHost);
}
