// Lab 04, modern C++: the tile size is a template parameter, loading and storing are lambdas.
#include <cstddef>

#include "check.h"

template <class I>
constexpr I divUp(I what, I by) {
  return what / by + (what % by ? 1 : 0);
}

template <int T>
__global__ void gemm(const float* __restrict__ lhs, const float* __restrict__ rhs,
                     float* __restrict__ out, int rows, int inner, int cols) {
  __shared__ float tl[T][T];
  __shared__ float tr[T][T];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int y = T * blockIdx.y + ty;
  const int x = T * blockIdx.x + tx;

  auto element = [](const float* from, int r, int c, int height, int width) -> float {
    return (r >= height || c >= width) ? 0.f : from[static_cast<std::size_t>(r) * width + c];
  };
  auto load = [&](int base) {
    tl[ty][tx] = element(lhs, y, base + tx, rows, inner);
    tr[ty][tx] = element(rhs, base + ty, x, inner, cols);
    __syncthreads();
  };
  auto use = [&] {
    float part = 0.f;
#pragma unroll
    for (int s = 0; s < T; ++s) part += tl[ty][s] * tr[s][tx];
    __syncthreads();
    return part;
  };

  float acc = 0.f;
  for (int base = 0; base < inner; base += T) {
    load(base);
    acc += use();
  }

  if (y < rows && x < cols) out[static_cast<std::size_t>(y) * cols + x] = acc;
}

template <int T>
void launch(const float* lhs, const float* rhs, float* out, int rows, int inner, int cols) {
  const dim3 threads(T, T);
  const dim3 blocks(divUp(cols, T), divUp(rows, T));
  gemm<T><<<blocks, threads>>>(lhs, rhs, out, rows, inner, cols);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  launch<16>(M, N, P, j, k, l);
  if (auto e = cudaGetLastError(); e != cudaSuccess) CHECK(e);
}
