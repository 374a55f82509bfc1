// Lab 05: thread tile as compile-time recursion avoided, plain templates and FOR macros instead.
#include "check.h"

#define FOR(v, n) _Pragma("unroll") for (int v = 0; v < (n); ++v)

template <int BlockM, int BlockN, int BlockK, int RegM, int RegN>
struct Config {
  static constexpr int bm = BlockM, bn = BlockN, bk = BlockK, rm = RegM, rn = RegN;
  static constexpr int tx = bn / rn;
  static constexpr int ty = bm / rm;
  static constexpr int threads = tx * ty;
  static constexpr int m_loads = bm * bk / threads;
  static constexpr int n_loads = bk * bn / threads;
};

template <class C>
__global__ void gemm(const float* __restrict__ A, const float* __restrict__ B,
                     float* __restrict__ D, int rows, int depth, int cols) {
  __shared__ float sa[C::bk][C::bm];
  __shared__ float sb[C::bk][C::bn];

  const int tid = threadIdx.x;
  const int lx = tid % C::tx;
  const int ly = tid / C::tx;
  const int y0 = blockIdx.y * C::bm;
  const int x0 = blockIdx.x * C::bn;

  float acc[C::rm][C::rn];
  FOR(i, C::rm) FOR(j, C::rn) acc[i][j] = 0.0f;

  for (int k0 = 0; k0 < depth; k0 += C::bk) {
    FOR(u, C::m_loads) {
      const int id = tid + u * C::threads;
      const int y = id / C::bk, z = id % C::bk;
      float v = 0.0f;
      if (y0 + y < rows && k0 + z < depth) v = A[(size_t)(y0 + y) * depth + (k0 + z)];
      sa[z][y] = v;
    }
    FOR(u, C::n_loads) {
      const int id = tid + u * C::threads;
      const int z = id / C::bn, x = id % C::bn;
      float v = 0.0f;
      if (k0 + z < depth && x0 + x < cols) v = B[(size_t)(k0 + z) * cols + (x0 + x)];
      sb[z][x] = v;
    }
    __syncthreads();

    for (int z = 0; z < C::bk; ++z) {
      float fa[C::rm], fb[C::rn];
      FOR(i, C::rm) fa[i] = sa[z][ly * C::rm + i];
      FOR(j, C::rn) fb[j] = sb[z][lx + j * C::tx];
      FOR(i, C::rm) FOR(j, C::rn) acc[i][j] += fa[i] * fb[j];
    }
    __syncthreads();
  }

  FOR(i, C::rm) {
    const int y = y0 + ly * C::rm + i;
    if (y >= rows) break;
    FOR(j, C::rn) {
      const int x = x0 + lx + j * C::tx;
      if (x < cols) D[(size_t)y * cols + x] = acc[i][j];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  using C = Config<128, 64, 8, 8, 4>;
  const dim3 grid((l + C::bn - 1) / C::bn, (j + C::bm - 1) / C::bm);
  gemm<C><<<grid, C::threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
