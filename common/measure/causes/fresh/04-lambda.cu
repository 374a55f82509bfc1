// lab 4 - generic helpers + lambdas
#include <cstddef>
#include "check.h"

template <int T>
struct Tiles {
  float left[T][T];
  float right[T][T];
};

template <class F>
__device__ void repeat(int n, F body) {
  for (int i = 0; i != n; ++i) body(i);
}

template <int T>
__global__ void product(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Tiles<T> sm;
  const int u = threadIdx.x, v = threadIdx.y;
  const int yy = T * blockIdx.y + v;
  const int xx = T * blockIdx.x + u;

  auto peek = [](const float* p, int h, int w, int y, int x) -> float {
    const bool ok = y < h && x < w;
    return ok ? p[static_cast<std::size_t>(y) * w + x] : 0.f;
  };

  const int whole = k / T;
  const int rest = k - whole * T;
  float s = 0.f;

  auto round = [&](int start, int len) {
    sm.left[v][u] = peek(M, j, k, yy, start + u);
    sm.right[v][u] = peek(N, k, l, start + v, xx);
    __syncthreads();
    repeat(len, [&](int i) { s += sm.left[v][i] * sm.right[i][u]; });
    __syncthreads();
  };

  repeat(whole, [&](int t) { round(t * T, T); });
  if (rest > 0) round(whole * T, rest);

  if (yy >= j || xx >= l) return;
  P[static_cast<std::size_t>(yy) * l + xx] = s;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  constexpr int T = 16;
  auto up = [](int n) { return static_cast<unsigned>((n + T - 1) / T); };
  const dim3 threads(T, T), blocks(up(l), up(j));
  product<T><<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
