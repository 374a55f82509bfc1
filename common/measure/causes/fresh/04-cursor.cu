#include "check.h"

template <typename F, int W>
struct Cursor {
  const F* p;
  int rows, cols;
  size_t pitch;
  __device__ Cursor(const F* base, int row, int col, int height, int width)
      : p(base + (size_t)row * width + col), rows(height - row), cols(width - col), pitch(width) {}
  __device__ F operator()() const { return rows > 0 && cols > 0 ? *p : F(0); }
  __device__ void right() { p += W, cols -= W; }
  __device__ void down() { p += W * pitch, rows -= W; }
};

constexpr int W = 16;

__global__ void walk(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float tile[2 * W * W];
  float* const second = tile + W * W;
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * W + y, col = blockIdx.x * W + x;
  Cursor<float, W> m(M, row, x, j, k), n(N, y, col, k, l);
  float sum = 0;
  for (int rest = k; rest > 0; rest -= W) {
    tile[y * W + x] = m();
    second[y * W + x] = n();
    m.right();
    n.down();
    __syncthreads();
    const int stop = rest < W ? rest : W;
    for (int i = 0; i != stop; ++i) sum += tile[y * W + i] * second[i * W + x];
    __syncthreads();
  }
  if (row < j && col < l) P[(size_t)row * l + col] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto blocks = [](int n) { return (n + W - 1) / W; };
  walk<<<dim3(blocks(l), blocks(j)), dim3(W, W)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
