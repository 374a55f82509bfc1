// Lab 06: flat tiles with their strides in a config struct; rows of 70 words for M.
#include "check.h"

struct Cfg {
  static constexpr int rows = 64, cols = 64, depth = 16;
  static constexpr int tr = 4, tc = 4;
  static constexpr int bx = cols / tc, by = rows / tr, threads = bx * by;
  static constexpr int strideM = rows + 6;  // 70 * i + r: 6 i are 16 different even banks
  static constexpr int strideN = cols;
};

template <class C>
struct Tiles {
  float m[C::depth * C::strideM];
  float n[C::depth * C::strideN];
  __device__ float& M(int i, int r) { return m[i * C::strideM + r]; }
  __device__ float& N(int i, int c) { return n[i * C::strideN + c]; }
};

template <class C>
__global__ void kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Tiles<C> t;
  const int tid = threadIdx.x;
  const int tx = tid % C::bx, ty = tid / C::bx;
  const int row0 = blockIdx.y * C::rows;
  const int col0 = blockIdx.x * C::cols;

  float acc[C::tr * C::tc] = {};

  for (int k0 = 0; k0 < k; k0 += C::depth) {
    for (int e = tid; e < C::rows * C::depth; e += C::threads) {
      const int r = e / C::depth, i = e % C::depth;
      float v = 0.0f;
      if (row0 + r < j && k0 + i < k) v = M[size_t(row0 + r) * k + k0 + i];
      t.M(i, r) = v;
    }
    for (int e = tid; e < C::depth * C::cols; e += C::threads) {
      const int i = e / C::cols, c = e % C::cols;
      float v = 0.0f;
      if (k0 + i < k && col0 + c < l) v = N[size_t(k0 + i) * l + col0 + c];
      t.N(i, c) = v;
    }
    __syncthreads();

    for (int i = 0; i < C::depth; ++i) {
      float a[C::tr];
#pragma unroll
      for (int r = 0; r < C::tr; ++r) a[r] = t.M(i, C::tr * ty + r);
#pragma unroll
      for (int c = 0; c < C::tc; ++c) {
        const float b = t.N(i, tx + C::bx * c);
#pragma unroll
        for (int r = 0; r < C::tr; ++r) acc[r * C::tc + c] += a[r] * b;
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int q = 0; q < C::tr * C::tc; ++q) {
    const int row = row0 + C::tr * ty + q / C::tc;
    const int col = col0 + tx + C::bx * (q % C::tc);
    if (row < j && col < l) P[size_t(row) * l + col] = acc[q];
  }
}

template <class C>
void run(const float* M, const float* N, float* P, int j, int k, int l) {
  auto blocks = [](int whole, int part) { return whole / part + (whole % part != 0); };
  dim3 grid(blocks(l, C::cols), blocks(j, C::rows));
  kernel<C><<<grid, C::threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  run<Cfg>(M, N, P, j, k, l);
}
