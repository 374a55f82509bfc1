// Lab 7, vectorised. Whether rows are aligned is known on the host: the kernel is compiled once for
// each answer.                                                     (Anneke de V., group 4)
#include <cuda_runtime.h>

#include "check.h"

union Quad {
  float4 vec;
  float el[4];
};

constexpr int TILE_H = 128, TILE_W = 64, DEPTH = 16;
constexpr int THR = 256;
constexpr int ROWS_EACH = 8;                 // rows of a thread, 16 apart
constexpr int LANES_X = TILE_W / 4;          // 16 threads make a row of the tile of P
constexpr int LANES_Y = THR / LANES_X;       // 16

template <bool Vec>
__device__ Quad read(const float* mat, int h, int w, int y, int x) {
  Quad q;
  q.vec = make_float4(0.f, 0.f, 0.f, 0.f);
  if (y < h) {
    const float* src = mat + (size_t)y * w + x;
    if (Vec) {
      if (x < w) q.vec = *reinterpret_cast<const float4*>(src);
    } else {
#pragma unroll
      for (int e = 0; e < 4; e++)
        if (x + e < w) q.el[e] = src[e];
    }
  }
  return q;
}

template <bool Vec>
__device__ void write(float* mat, int h, int w, int y, int x, Quad q) {
  if (y >= h) return;
  float* dst = mat + (size_t)y * w + x;
  if (Vec) {
    if (x < w) *reinterpret_cast<float4*>(dst) = q.vec;
  } else {
#pragma unroll
    for (int e = 0; e < 4; e++)
      if (x + e < w) dst[e] = q.el[e];
  }
}

// VecK: rows of M are aligned; VecL: those of N and P are.
template <bool VecK, bool VecL>
__global__ void __launch_bounds__(THR) mul(const float* M, const float* N, float* P, int j, int k,
                                           int l) {
  __shared__ float4 sm[TILE_H][DEPTH / 4];
  __shared__ float4 sn[DEPTH][TILE_W / 4];
  const int t = threadIdx.x;
  const int px = t % LANES_X, py = t / LANES_X;
  const int y0 = blockIdx.y * TILE_H, x0 = blockIdx.x * TILE_W;

  Quad acc[ROWS_EACH];
  for (Quad& q : acc) q.vec = make_float4(0.f, 0.f, 0.f, 0.f);

  for (int d = 0; d < k; d += DEPTH) {
    for (int q = t; q < TILE_H * DEPTH / 4; q += THR) {
      int y = q / (DEPTH / 4), x = q % (DEPTH / 4);
      sm[y][x] = read<VecK>(M, j, k, y0 + y, d + 4 * x).vec;
    }
    sn[py][px] = read<VecL>(N, k, l, d + py, x0 + 4 * px).vec;  // LANES_Y == DEPTH
    __syncthreads();

    for (int s = 0; s < DEPTH / 4; s++) {
      Quad n[4];
#pragma unroll
      for (int e = 0; e < 4; e++) n[e].vec = sn[4 * s + e][px];
#pragma unroll
      for (int r = 0; r < ROWS_EACH; r++) {
        Quad m;
        m.vec = sm[py + LANES_Y * r][s];
#pragma unroll
        for (int e = 0; e < 4; e++)
#pragma unroll
          for (int c = 0; c < 4; c++) acc[r].el[c] += m.el[e] * n[e].el[c];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++)
    write<VecL>(P, j, l, y0 + py + LANES_Y * r, x0 + 4 * px, acc[r]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + TILE_W - 1) / TILE_W, (j + TILE_H - 1) / TILE_H);
  const bool vk = k % 4 == 0, vl = l % 4 == 0;
  auto kernel = vk ? (vl ? mul<true, true> : mul<true, false>)
                   : (vl ? mul<false, true> : mul<false, false>);
  kernel<<<grid, THR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
