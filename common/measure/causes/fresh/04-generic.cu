#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

template <class Real, class Acc, int S>
__global__ void rect(const Real* m, const Real* n, Real* p, int rows, int inner, int cols) {
  __shared__ Real tm[S][S];
  __shared__ Real tn[S][S];
  const int ly = threadIdx.y, lx = threadIdx.x;
  const int gy = blockIdx.y * S + ly, gx = blockIdx.x * S + lx;
  Acc acc = 0;
  for (int base = 0; base < inner; base += S) {
    tm[ly][lx] = (gy < rows && base + lx < inner) ? m[std::size_t(gy) * inner + base + lx] : Real(0);
    tn[ly][lx] = (gx < cols && base + ly < inner) ? n[std::size_t(base + ly) * cols + gx] : Real(0);
    __syncthreads();
    const int here = min(S, inner - base);
    for (int i = 0; i < here; ++i) acc += tm[ly][i] * tn[i][lx];
    __syncthreads();
  }
  if (gy < rows && gx < cols) p[std::size_t(gy) * cols + gx] = Real(acc);
}

struct Config {
  static constexpr int side = 16;
  static dim3 block() { return dim3(side, side); }
  static dim3 grid(int rows, int cols) { return dim3((cols + side - 1) / side, (rows + side - 1) / side); }
};

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  rect<float, float, Config::side><<<Config::grid(j, l), Config::block()>>>(M, N, P, j, k, l);
}
