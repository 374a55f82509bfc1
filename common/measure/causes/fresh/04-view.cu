// Rectangular product with a view type: a pointer that knows its shape.
#include <cstddef>
#include "check.h"

template <class T>
struct View {
  T* p;
  int rows, cols;
  __device__ T& operator()(int r, int c) const { return p[std::size_t(r) * cols + c]; }
  __device__ bool has(int r, int c) const { return r < rows && c < cols; }
};

template <int S>
__device__ void fetch(float (&tile)[S][S], View<const float> from, int r0, int c0) {
  const int r = r0 + threadIdx.y, c = c0 + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = from.has(r, c) ? from(r, c) : 0.0f;
}

template <int S>
__global__ void product(View<const float> a, View<const float> b, View<float> c) {
  __shared__ float at[S][S];
  __shared__ float bt[S][S];
  const int top = blockIdx.y * S;
  const int left = blockIdx.x * S;

  float total = 0.0f;
  for (int step = 0; step < a.cols; step += S) {
    fetch<S>(at, a, top, step);
    fetch<S>(bt, b, step, left);
    __syncthreads();
#pragma unroll 8
    for (int u = 0; u < S; ++u) total += at[threadIdx.y][u] * bt[u][threadIdx.x];
    __syncthreads();
  }

  const int r = top + threadIdx.y, col = left + threadIdx.x;
  if (c.has(r, col)) c(r, col) = total;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  constexpr int S = 32;
  auto pieces = [](int n) { return unsigned((n + S - 1) / S); };
  View<const float> a{M, j, k};
  View<const float> b{N, k, l};
  View<float> c{P, j, l};
  product<S><<<dim3(pieces(c.cols), pieces(c.rows)), dim3(S, S)>>>(a, b, c);
  CHECK(cudaGetLastError());
}
