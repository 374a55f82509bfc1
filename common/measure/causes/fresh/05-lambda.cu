// Lab 05 in C++17: everything with extents in the type, lambdas for the loops.
#include "check.h"

struct Cfg {
  static constexpr int M = 64, N = 128, K = 16;  // of a block
  static constexpr int m = 4, n = 8;             // of a thread
  static constexpr int tx = N / n, ty = M / m;   // threads along x, y
  static constexpr int threads = tx * ty;
};

template <int Count, typename F>
__device__ __forceinline__ void times(F&& f) {
#pragma unroll
  for (int i = 0; i < Count; ++i) f(i);
}

template <int H, int W, typename Get>
__device__ void fill(float (&tile)[H][W], int tid, Get get) {
  static_assert(H * W % Cfg::threads == 0);
  times<H * W / Cfg::threads>([&](int turn) {
    const int e = turn * Cfg::threads + tid;
    tile[e / W][e % W] = get(e / W, e % W);
  });
}

__global__ void outer(const float* A, const float* B, float* C, int rows, int inner, int cols) {
  __shared__ float As[Cfg::M][Cfg::K];
  __shared__ float Bs[Cfg::K][Cfg::N];
  const int x = threadIdx.x, y = threadIdx.y;
  const int tid = y * Cfg::tx + x;
  const int row0 = blockIdx.y * Cfg::M, col0 = blockIdx.x * Cfg::N;

  float sum[Cfg::m][Cfg::n] = {};
  for (int base = 0; base < inner; base += Cfg::K) {
    fill(As, tid, [=](int r, int i) {
      const int gr = row0 + r, gi = base + i;
      return gr < rows && gi < inner ? A[size_t(gr) * inner + gi] : 0.0f;
    });
    fill(Bs, tid, [=](int i, int c) {
      const int gi = base + i, gc = col0 + c;
      return gi < inner && gc < cols ? B[size_t(gi) * cols + gc] : 0.0f;
    });
    __syncthreads();

    for (int i = 0; i < Cfg::K; ++i) {
      float a[Cfg::m], b[Cfg::n];
      times<Cfg::m>([&](int p) { a[p] = As[y + p * Cfg::ty][i]; });
      times<Cfg::n>([&](int q) { b[q] = Bs[i][x + q * Cfg::tx]; });
      times<Cfg::m>([&](int p) { times<Cfg::n>([&](int q) { sum[p][q] += a[p] * b[q]; }); });
    }
    __syncthreads();
  }

  times<Cfg::m>([&](int p) {
    const int gr = row0 + y + p * Cfg::ty;
    times<Cfg::n>([&](int q) {
      const int gc = col0 + x + q * Cfg::tx;
      if (gr < rows && gc < cols) C[size_t(gr) * cols + gc] = sum[p][q];
    });
  });
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto blocks = [](int extent, int size) { return (extent - 1) / size + 1; };
  const dim3 grid(blocks(l, Cfg::N), blocks(j, Cfg::M));
  const dim3 block(Cfg::tx, Cfg::ty);
  outer<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
