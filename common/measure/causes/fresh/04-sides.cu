#include "check.h"

struct Sides { int rows, cols; };

template <int B>
struct Window {
  const float* data;
  Sides of;
  int top, left;
  __device__ float operator()(int r, int c) const {
    const int y = top + r, x = left + c;
    return y < of.rows && x < of.cols ? data[size_t(y) * of.cols + x] : 0.0f;
  }
  __device__ void right() { left += B; }
  __device__ void down() { top += B; }
};

template <int B>
__global__ void windows(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float a[B][B + 1], b[B][B + 1];
  const int x = threadIdx.x & (B - 1), y = threadIdx.x / B;
  Window<B> m{M, {j, k}, static_cast<int>(blockIdx.x) * B, 0};
  Window<B> n{N, {k, l}, 0, static_cast<int>(blockIdx.y) * B};
  float total = 0;
  for (int rest = k; rest > 0; rest -= B) {
    a[y][x] = m(y, x);
    b[y][x] = n(y, x);
    __syncthreads();
    const int depth = rest < B ? rest : B;
    for (int d = 0; d < depth; d++) total += a[y][d] * b[d][x];
    __syncthreads();
    m.right();
    n.down();
  }
  const int row = blockIdx.x * B + y, col = blockIdx.y * B + x;
  if (row < j && col < l) P[size_t(row) * l + col] = total;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  constexpr int B = 16;
  const dim3 grid((j + B - 1) / B, (l + B - 1) / B);
  windows<B><<<grid, B * B>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
