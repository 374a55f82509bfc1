// Lab 05: a wide block, 32 x 128; generic pieces; a warp is one row of threads.
#include "check.h"

template <int H, int W, int DY, int DX>
struct Config {
  static constexpr int tall = H, wide = W, dy = DY, dx = DX;
  static constexpr int ys = H / DY, xs = W / DX, crew = ys * xs;
};
using Cfg = Config<32, 128, 4, 4>;
constexpr int DEEP = 16;

struct Global {
  const float* p;
  int rows, cols;
  __device__ float operator()(int r, int c) const {
    bool in = r < rows && c < cols;
    return in ? p[(long)r * cols + c] : 0.0f;
  }
};

// Lets f see every element of an H x W tile once, spread over the crew.
template <int H, int W, typename F>
__device__ void together(int worker, F f) {
  for (int n = worker; n < H * W; n += Cfg::crew) f(n / W, n % W);
}

template <typename C>
__global__ void outer(Global m, Global n, float* p) {
  __shared__ float a[C::tall][DEEP];
  __shared__ float b[DEEP][C::wide];
  const int x = threadIdx.x, y = threadIdx.y;
  const int worker = y * C::xs + x;
  const int r0 = blockIdx.y * C::tall, c0 = blockIdx.x * C::wide;
  float acc[C::dy][C::dx];
  for (auto& line : acc)
    for (auto& v : line) v = 0;

  int z = 0;
  do {
    together<C::tall, DEEP>(worker, [&](int r, int i) { a[r][i] = m(r0 + r, z + i); });
    together<DEEP, C::wide>(worker, [&](int i, int c) { b[i][c] = n(z + i, c0 + c); });
    __syncthreads();
    for (int i = 0; i < DEEP; ++i) {
      float right[C::dx];
      for (int c = 0; c < C::dx; ++c) right[c] = b[i][c * C::xs + x];
      for (int r = 0; r < C::dy; ++r) {
        const float left = a[y * C::dy + r][i];
        for (int c = 0; c < C::dx; ++c) acc[r][c] += left * right[c];
      }
    }
    __syncthreads();
    z += DEEP;
  } while (z < m.cols);

  for (int c = 0; c < C::dx; ++c) {
    const int col = c0 + c * C::xs + x;
    if (col >= n.cols) break;
    for (int r = 0; r < C::dy; ++r) {
      const int row = r0 + y * C::dy + r;
      if (row < m.rows) p[(long)row * n.cols + col] = acc[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto blocks = [](int total, int part) { return (total - 1) / part + 1; };
  dim3 grid(blocks(l, Cfg::wide), blocks(j, Cfg::tall)), block(Cfg::xs, Cfg::ys);
  outer<Cfg><<<grid, block>>>(Global{M, j, k}, Global{N, k, l}, P);
  CHECK(cudaGetLastError());
}
