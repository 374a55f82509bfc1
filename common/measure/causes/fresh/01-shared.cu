#include <cassert>
#include <memory>

// memory of both sides that frees itself
struct Deleter {
  void operator()(float* p) const { cudaFree(p); }
};
using Managed = std::unique_ptr<float, Deleter>;

static Managed managed(size_t count) {
  float* raw = nullptr;
  cudaError_t code = cudaMallocManaged(&raw, count * sizeof(float));
  assert(code == cudaSuccess);
  return Managed(raw);
}

__global__ void by_fours(const float* m, const float* n, float* p, int side) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y < side && x < side) {
    const float* row = m + y * side;
    const float* column = n + x;
    float sums[4] = {0, 0, 0, 0};
    int t = 0;
    for (; t + 4 <= side; t += 4) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        sums[u] += row[t + u] * *column;
        column += side;
      }
    }
    for (; t < side; ++t) sums[0] += row[t] * n[t * side + x];
    p[y * side + x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = size_t(width) * width;
  Managed m = managed(count), n = managed(count), p = managed(count);
  cudaMemcpy(m.get(), M, count * sizeof(float), cudaMemcpyDefault);
  cudaMemcpy(n.get(), N, count * sizeof(float), cudaMemcpyDefault);
  const dim3 threads{32, 8};
  const dim3 blocks{(width + threads.x - 1) / threads.x, (width + threads.y - 1) / threads.y};
  by_fours<<<blocks, threads>>>(m.get(), n.get(), p.get(), width);
  cudaDeviceSynchronize();
  cudaMemcpy(P, p.get(), count * sizeof(float), cudaMemcpyDefault);
}
