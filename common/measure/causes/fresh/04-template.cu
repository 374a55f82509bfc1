#include <cstddef>
#include "check.h"

using idx = std::size_t;

template <int T>
struct Tile {
  float v[T][T];

  // every thread of the T x T block brings one element, f says where from
  template <class F>
  __device__ void fill(F f) {
    v[threadIdx.y][threadIdx.x] = f(threadIdx.y, threadIdx.x);
  }
};

template <int T>
__device__ float inner(const Tile<T>& a, const Tile<T>& b) {
  float s = 0;
#pragma unroll
  for (int t = 0; t < T; ++t) s += a.v[threadIdx.y][t] * b.v[t][threadIdx.x];
  return s;
}

template <int T>
__global__ void product(const float* A, const float* B, float* C, idx rows, idx depth, idx cols) {
  __shared__ Tile<T> a, b;
  const idx y0 = idx(blockIdx.y) * T, x0 = idx(blockIdx.x) * T;

  float total = 0;
  for (idx z = 0; z < depth; z += T) {
    a.fill([=](int dy, int dx) {
      const idx y = y0 + dy, x = z + dx;
      return y < rows && x < depth ? A[y * depth + x] : 0.f;
    });
    b.fill([=](int dy, int dx) {
      const idx y = z + dy, x = x0 + dx;
      return y < depth && x < cols ? B[y * cols + x] : 0.f;
    });
    __syncthreads();
    total += inner(a, b);
    __syncthreads();
  }

  const idx y = y0 + threadIdx.y, x = x0 + threadIdx.x;
  if (y < rows && x < cols) C[y * cols + x] = total;
}

template <int T>
void launch(const float* A, const float* B, float* C, int rows, int depth, int cols) {
  auto up = [](int n) { return unsigned((n + T - 1) / T); };
  product<T><<<{up(cols), up(rows)}, {T, T}>>>(A, B, C, rows, depth, cols);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  launch<16>(M, N, P, j, k, l);
}
