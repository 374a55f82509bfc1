// Lab 06: nothing is transposed. The tile of M stays [row][step], a thread's rows are 16 apart.
#include "check.h"

constexpr int side = 64, depth = 16, lanes = 16, per = side / lanes;

template <int n, typename F>
__device__ __forceinline__ void forEach(F f) {
#pragma unroll
  for (int a = 0; a < n; ++a) f(a);
}

__device__ __forceinline__ float orZero(const float* xs, int rows, int cols, int r, int c) {
  return (r >= rows || c >= cols) ? 0.0f : xs[size_t(r) * cols + c];
}

__global__ void zipWithSum(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float ms[side][depth];
  __shared__ float ns[depth][side];

  const int tx = threadIdx.x, ty = threadIdx.y, id = ty * lanes + tx;
  const int r0 = blockIdx.y * side, c0 = blockIdx.x * side;

  float acc[per][per];
  forEach<per>([&](int a) { forEach<per>([&](int b) { acc[a][b] = 0.0f; }); });

  const int total = k / depth + (k % depth != 0);
  for (int p = 0; p < total; ++p) {
    const int base = p * depth;
    forEach<per>([&](int a) {
      const int r = ty + lanes * a;
      ms[r][tx] = orZero(M, j, k, r0 + r, base + tx);
    });
    forEach<per>([&](int b) {
      const int i = id / side + b * (depth / per), c = id % side;
      ns[i][c] = orZero(N, k, l, base + i, c0 + c);
    });
    __syncthreads();

    for (int i = 0; i < depth; ++i) {
      float m[per], n[per];
      forEach<per>([&](int a) { m[a] = ms[ty + lanes * a][i]; });
      forEach<per>([&](int b) { n[b] = ns[i][tx + lanes * b]; });
      forEach<per>([&](int a) { forEach<per>([&](int b) { acc[a][b] += m[a] * n[b]; }); });
    }
    __syncthreads();
  }

  forEach<per>([&](int a) {
    forEach<per>([&](int b) {
      const int r = r0 + ty + lanes * a, c = c0 + tx + lanes * b;
      if (r < j && c < l) P[size_t(r) * l + c] = acc[a][b];
    });
  });
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto ceiling = [](int a, int b) { return (a + b - 1) / b; };
  zipWithSum<<<dim3(ceiling(l, side), ceiling(j, side)), dim3(lanes, lanes)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
