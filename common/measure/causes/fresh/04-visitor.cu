#include <cuda_runtime.h>

#define EDGE 16
#define FOR_TILE(i) _Pragma("unroll") for (int i = 0; i < EDGE; ++i)

struct Dims { int rows, inner, cols; };

// Calls f(y, x) for the thread's element if it lies inside.
template <class F>
__device__ void if_inside(int y, int x, int rows, int cols, F f) {
  if (y >= 0 && y < rows && x >= 0 && x < cols) f(y, x);
}

__global__ void visit(const float* m, const float* n, float* p, Dims d) {
  extern __shared__ float pool[];
  float(*a)[EDGE] = reinterpret_cast<float(*)[EDGE]>(pool);
  float(*b)[EDGE] = reinterpret_cast<float(*)[EDGE]>(pool + EDGE * EDGE);
  const int ty = threadIdx.x >> 4, tx = threadIdx.x & 15;
  const int row = (blockIdx.y << 4) + ty, col = (blockIdx.x << 4) + tx;
  float sum = 0.f;
  for (int start = 0; start < d.inner; start += EDGE) {
    a[ty][tx] = b[ty][tx] = 0.f;
    if_inside(row, start + tx, d.rows, d.inner, [&](int y, int x) { a[ty][tx] = m[y * d.inner + x]; });
    if_inside(start + ty, col, d.inner, d.cols, [&](int y, int x) { b[ty][tx] = n[y * d.cols + x]; });
    __syncthreads();
    FOR_TILE(i) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  if_inside(row, col, d.rows, d.cols, [&](int y, int x) { p[y * d.cols + x] = sum; });
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Dims d{j, k, l};
  const size_t shared = 2 * EDGE * EDGE * sizeof(float);
  const dim3 grid((d.cols + EDGE - 1) / EDGE, (d.rows + EDGE - 1) / EDGE);
  visit<<<grid, EDGE * EDGE, shared>>>(M, N, P, d);
}
