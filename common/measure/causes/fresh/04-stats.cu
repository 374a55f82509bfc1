// Lab 04. X is n x p (observations by variables), B is p x q, Y = X B is n x q.
#include <cstdint>
#include "check.h"

using idx = std::int64_t;
static const int b = 16;

struct Shape {
  int n, p, q;
};

__global__ void regress(const float* X, const float* B, float* Y, Shape s) {
  __shared__ float xs[b][b];
  __shared__ float bs[b][b];

  const int u = threadIdx.x % b, v = threadIdx.x / b;
  const idx obs = idx(blockIdx.y) * b + v;
  const idx resp = idx(blockIdx.x) * b + u;

  auto x = [&](idx i, idx h) { return i < s.n && h < s.p ? X[i * s.p + h] : 0.f; };
  auto beta = [&](idx h, idx c) { return h < s.p && c < s.q ? B[h * s.q + c] : 0.f; };

  float fit = 0.f;
  for (int h0 = 0; h0 < s.p; h0 += b) {
    if (h0 > 0) __syncthreads();
    xs[v][u] = x(obs, h0 + u);
    bs[v][u] = beta(h0 + v, resp);
    __syncthreads();
    for (int h = 0; h < b; ++h) fit += xs[v][h] * bs[h][u];
  }

  if (obs < s.n && resp < s.q) Y[obs * s.q + resp] = fit;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Shape s{j, k, l};
  auto groups = [](int size) { return unsigned((size - 1) / b + 1); };
  const dim3 grid(groups(s.q), groups(s.n));
  regress<<<grid, b * b>>>(M, N, P, s);
  CHECK(cudaGetLastError());
}
