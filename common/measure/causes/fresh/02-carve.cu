#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { T = 16, SHIFT = 4 };

extern __shared__ float pool[];

__global__ void carve_kernel(const float* __restrict__ M, const float* __restrict__ N, float* __restrict__ P, unsigned width) {
  cg::thread_block me = cg::this_thread_block();
  float(*a)[T] = reinterpret_cast<float(*)[T]>(pool);
  float(*b)[T] = reinterpret_cast<float(*)[T]>(pool + T * T);
  const unsigned t = me.thread_rank();
  const unsigned u = t & (T - 1), v = t >> SHIFT;
  const unsigned row = me.group_index().y << SHIFT | v;
  const unsigned col = me.group_index().x << SHIFT | u;

  float acc = 0;
  for (unsigned base = 0; base != width; base += T) {
    a[v][u] = M[row * width + (base | u)];
    b[v][u] = N[(base | v) * width + col];
    me.sync();
#pragma unroll
    for (unsigned i = 0; i < T; ++i) acc += a[v][i] * b[i][u];
    me.sync();
  }
  P[row * width + col] = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  const dim3 grid(width >> SHIFT, width >> SHIFT);
  const size_t bytes = 2 * T * T * sizeof(float);
  carve_kernel<<<grid, T * T, bytes>>>(M, N, P, width);
}
