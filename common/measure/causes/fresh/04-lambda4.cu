// Lab 04: rectangular. Lambdas for "element or zero".
#include <cstdint>

#include "check.h"

struct Shape {
  int rows, cols;
  __device__ bool has(int r, int c) const { return r < rows && c < cols; }
  __device__ std::int64_t at(int r, int c) const { return std::int64_t{r} * cols + c; }
};

constexpr int kTile = 16;
constexpr int up(int a, int b) { return a / b + (a % b ? 1 : 0); }

__global__ void gemm(const float* __restrict__ m, const float* __restrict__ n, float* p, Shape sm,
                     Shape sn) {
  __shared__ float left[kTile][kTile];
  __shared__ float right[kTile][kTile];
  const Shape sp{sm.rows, sn.cols};

  const auto u = threadIdx.x, v = threadIdx.y;
  const int r = int(blockIdx.y * kTile + v);
  const int c = int(blockIdx.x * kTile + u);

  auto load_left = [&](int base) {
    const int cc = base + int(u);
    left[v][u] = sm.has(r, cc) ? m[sm.at(r, cc)] : 0.f;
  };
  auto load_right = [&](int base) {
    const int rr = base + int(v);
    right[v][u] = sn.has(rr, c) ? n[sn.at(rr, c)] : 0.f;
  };

  float acc = 0.f;
  for (int base = 0; base < sm.cols; base += kTile) {
    load_left(base);
    load_right(base);
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kTile; ++s) acc += left[v][s] * right[s][u];
    __syncthreads();
  }
  if (sp.has(r, c)) p[sp.at(r, c)] = acc;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Shape sm{j, k};
  const Shape sn{k, l};
  const dim3 grid(up(sn.cols, kTile), up(sm.rows, kTile));
  gemm<<<grid, dim3(kTile, kTile)>>>(M, N, P, sm, sn);
  CHECK(cudaGetLastError());
}
