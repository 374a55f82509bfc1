#include <cuda_runtime.h>

#include "copy_async.h"

// Three buffers: while one is used, two are on their way.
constexpr int Tile = 64, Deep = 16, Buffers = 3;

struct Buffer {
  float m[Tile][Deep];
  float n[Deep][Tile];
};

struct Problem {
  const float *M, *N;
  float* P;
  int j, k, l;
};

__device__ void send(float* to, const float* matrix, int height, int width, int r, int c) {
  if (width % 4 == 0) {
    const bool here = r < height && c < width;
    copy_async<16>(to, here ? &matrix[r * width + c] : matrix, here);
  } else {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const bool here = r < height && c + q < width;
      copy_async<4>(to + q, here ? &matrix[r * width + c + q] : matrix, here);
    }
  }
}

__device__ void order(Buffer& buffer, const Problem& p, int phase) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  if (phase * Deep < p.k) {
    const int mr = t >> 2, mc = (t & 3) << 2;
    send(&buffer.m[mr][mc], p.M, p.j, p.k, blockIdx.y * Tile + mr, phase * Deep + mc);
    const int nr = t >> 4, nc = (t & 15) << 2;
    send(&buffer.n[nr][nc], p.N, p.k, p.l, phase * Deep + nr, blockIdx.x * Tile + nc);
  }
  __pipeline_commit();
}

__global__ void late(Problem p) {
  __shared__ alignas(16) Buffer ring[Buffers];
  float acc[4][4] = {};

  for (int ahead = 0; ahead < Buffers - 1; ++ahead) order(ring[ahead], p, ahead);
  int use = 0;
  for (int phase = 0; phase * Deep < p.k; ++phase) {
    __pipeline_wait_prior(Buffers - 2);
    __syncthreads();
    order(ring[(use + Buffers - 1) % Buffers], p, phase + Buffers - 1);
    const Buffer& now = ring[use];
    for (int d = 0; d < Deep; d += 4) {
      alignas(16) float a[4][4], b[4][4];
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(a[i]) = *reinterpret_cast<const float4*>(&now.m[threadIdx.y + 16 * i][d]);
        *reinterpret_cast<float4*>(b[i]) = *reinterpret_cast<const float4*>(&now.n[d + i][4 * threadIdx.x]);
      }
      for (int s = 0; s < 4; ++s)
        for (int r = 0; r < 4; ++r)
          for (int c = 0; c < 4; ++c) acc[r][c] += a[r][s] * b[s][c];
    }
    use = use + 1 == Buffers ? 0 : use + 1;
  }

  for (int r = 0; r < 4; ++r) {
    const int row = blockIdx.y * Tile + threadIdx.y + 16 * r;
    const int col = blockIdx.x * Tile + 4 * threadIdx.x;
    if (row >= p.j) continue;
    for (int c = 0; c < 4 && col + c < p.l; ++c) p.P[row * p.l + col + c] = acc[r][c];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Problem p;
  p.M = M, p.N = N, p.P = P;
  p.j = j, p.k = k, p.l = l;
  late<<<dim3((l + Tile - 1) / Tile, (j + Tile - 1) / Tile), dim3(16, 16)>>>(p);
}
