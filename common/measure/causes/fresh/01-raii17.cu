#include <memory>

#include "check.h"

namespace {

constexpr unsigned kX = 32;
constexpr unsigned kY = 4;

struct Release {
  void operator()(float* p) const { CHECK(cudaFree(p)); }
};
using Buffer = std::unique_ptr<float, Release>;

Buffer make_buffer(size_t count) {
  float* raw = nullptr;
  CHECK(cudaMalloc(&raw, count * sizeof *raw));
  return Buffer(raw);
}

Buffer upload(const float* from, size_t count) {
  Buffer result = make_buffer(count);
  CHECK(cudaMemcpy(result.get(), from, count * sizeof(float), cudaMemcpyHostToDevice));
  return result;
}

constexpr unsigned round_up_div(unsigned a, unsigned b) { return a / b + (a % b != 0); }

__global__ void multiply(const float* __restrict__ lhs, const float* __restrict__ rhs,
                         float* __restrict__ out, unsigned n) {
  const unsigned c = threadIdx.x + kX * blockIdx.x;
  const unsigned r = threadIdx.y + kY * blockIdx.y;
  if (c < n && r < n) {
    const float* left = lhs + r * n;
    const float* const end = left + n;
    const float* top = rhs + c;
    float total{};
    while (left != end) {
      total = fmaf(*left, *top, total);
      ++left;
      top += n;
    }
    out[r * n + c] = total;
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto n = static_cast<unsigned>(width);
  const size_t count = size_t(n) * n;

  Buffer lhs = upload(M, count);
  Buffer rhs = upload(N, count);
  Buffer out = make_buffer(count);

  const dim3 threads{kX, kY};
  const dim3 blocks{round_up_div(n, kX), round_up_div(n, kY)};
  multiply<<<blocks, threads>>>(lhs.get(), rhs.get(), out.get(), n);
  CHECK(cudaPeekAtLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(P, out.get(), count * sizeof(float), cudaMemcpyDeviceToHost));
}
