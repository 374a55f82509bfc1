// Vector access. Whether rows are aligned is decided on the host, once, and handed to the
// kernel as template arguments: one kernel out of four.
#include "check.h"

union Quad {
  float4 all;
  float part[4];
  __device__ Quad() : all(make_float4(0, 0, 0, 0)) {}
};

template <bool Aligned>
__device__ Quad read_quad(const float* base, int rows, int cols, int r, int c) {
  Quad q;
  if (r < rows) {
    const float* p = base + size_t(r) * cols + c;
    if constexpr (Aligned) {
      if (c < cols) q.all = *reinterpret_cast<const float4*>(p);
    } else {
      const int left = min(4, cols - c);
      for (int i = 0; i < 4; ++i)
        if (i < left) q.part[i] = p[i];
    }
  }
  return q;
}

template <bool Aligned>
__device__ void write_quad(float* base, int rows, int cols, int r, int c, const Quad& q) {
  if (r >= rows) return;
  float* p = base + size_t(r) * cols + c;
  if constexpr (Aligned) {
    if (c < cols) *reinterpret_cast<float4*>(p) = q.all;
  } else {
    const int left = min(4, cols - c);
    for (int i = 0; i < 4; ++i)
      if (i < left) p[i] = q.part[i];
  }
}

constexpr int kSide = 64, kDepth = 16, kThreads = 256;

template <bool AlignedM, bool AlignedN>
__global__ void quads(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float4 ms[kSide][kDepth / 4];
  __shared__ float4 ns[kDepth][kSide / 4];
  const int id = threadIdx.x;
  const int mr = id / (kDepth / 4), mq = id % (kDepth / 4);
  const int nr = id / (kSide / 4), nq = id % (kSide / 4);
  const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;

  Quad sum[4];
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    ms[mr][mq] = read_quad<AlignedM>(M, j, k, top + mr, k0 + 4 * mq).all;
    ns[nr][nq] = read_quad<AlignedN>(N, k, l, k0 + nr, left + 4 * nq).all;
    __syncthreads();
    for (int q = 0; q < kDepth / 4; ++q) {
      Quad m[4];
      for (int a = 0; a < 4; ++a) m[a].all = ms[nr + 16 * a][q];
      for (int s = 0; s < 4; ++s) {
        Quad n;
        n.all = ns[4 * q + s][nq];
        for (int a = 0; a < 4; ++a)
          for (int b = 0; b < 4; ++b) sum[a].part[b] += m[a].part[s] * n.part[b];
      }
    }
    __syncthreads();
  }
  for (int a = 0; a < 4; ++a)
    write_quad<AlignedN>(P, j, l, top + nr + 16 * a, left + 4 * nq, sum[a]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  using Kernel = void (*)(const float*, const float*, float*, int, int, int);
  const Kernel table[2][2] = {{quads<false, false>, quads<false, true>},
                              {quads<true, false>, quads<true, true>}};
  const Kernel chosen = table[k % 4 == 0][l % 4 == 0];
  const dim3 grid((l + kSide - 1) / kSide, (j + kSide - 1) / kSide);
  chosen<<<grid, kThreads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
