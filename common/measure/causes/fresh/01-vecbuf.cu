// buffers that move, in a std::vector that grows; what is to be done is a list of std::function
#include <cassert>
#include <functional>
#include <utility>
#include <vector>

struct Buffer {
  float* ptr = nullptr;
  size_t count = 0;

  explicit Buffer(size_t n) : count(n) {
    cudaError_t status = cudaMalloc((void**)&ptr, count * sizeof *ptr);
    assert(status == cudaSuccess);
  }
  Buffer(Buffer&& other) noexcept : ptr(std::exchange(other.ptr, nullptr)), count(other.count) {}
  Buffer(const Buffer&) = delete;
  ~Buffer() {
    if (ptr != nullptr) cudaFree(ptr);
  }
};

__global__ void multiplyRows(const float* lhs, const float* rhs, float* dst, int dim) {
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < dim && j < dim) {
    float acc = 0;
    for (int t = 0; t < dim; t++) acc += lhs[i * dim + t] * rhs[t * dim + j];
    dst[i * dim + j] = acc;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = size_t(width) * size_t(width);
  std::vector<Buffer> pool;
  pool.reserve(3);
  for (int i = 0; i < 3; i++) pool.emplace_back(count);

  std::vector<std::function<cudaError_t()>> steps;
  steps.push_back([&] { return cudaMemcpy(pool[0].ptr, M, pool[0].count * sizeof(float), cudaMemcpyHostToDevice); });
  steps.push_back([&] { return cudaMemcpy(pool[1].ptr, N, pool[1].count * sizeof(float), cudaMemcpyHostToDevice); });
  steps.push_back([&] {
    dim3 block(32, 8);
    dim3 grid((width + 31) / 32, (width + 7) / 8);
    multiplyRows<<<grid, block>>>(pool[0].ptr, pool[1].ptr, pool[2].ptr, width);
    return cudaGetLastError();
  });
  steps.push_back([&] { return cudaMemcpy(P, pool[2].ptr, pool[2].count * sizeof(float), cudaMemcpyDeviceToHost); });
  for (auto& step : steps) {
    cudaError_t status = step();
    assert(status == cudaSuccess);
  }
}
