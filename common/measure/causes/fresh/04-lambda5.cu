// Modern C++: lambdas inside of the kernel, last tile is cut short
#include <cstddef>
#include "check.h"

using index_t = std::size_t;
constexpr unsigned EDGE = 16;

template <typename Int>
constexpr Int divide_up(Int a, Int b) {
  return a / b + (a % b ? 1 : 0);
}

__global__ void gemm(const float* lhs, const float* rhs, float* dst, int J, int K, int L) {
  __shared__ float left[EDGE][EDGE];
  __shared__ float right[EDGE][EDGE];

  const int x = threadIdx.x, y = threadIdx.y;
  const int row = y + blockIdx.y * EDGE;
  const int col = x + blockIdx.x * EDGE;

  auto load = [&](int from) {
    const int c = from + x, r = from + y;
    left[y][x] = 0.0f;
    right[y][x] = 0.0f;
    if (row < J && c < K) left[y][x] = lhs[index_t(row) * K + c];
    if (r < K && col < L) right[y][x] = rhs[index_t(r) * L + col];
  };
  auto accumulate = [&](float start, int steps) {
    for (int i = 0; i < steps; ++i) start += left[y][i] * right[i][x];
    return start;
  };

  float value = 0.0f;
  for (int from = 0; from < K; from += EDGE) {
    load(from);
    __syncthreads();
    value = accumulate(value, min(int(EDGE), K - from));
    __syncthreads();
  }
  if (row < J && col < L) dst[index_t(row) * L + col] = value;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 threads{EDGE, EDGE};
  const dim3 blocks{divide_up<unsigned>(l, EDGE), divide_up<unsigned>(j, EDGE)};
  gemm<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
