// Lab 08 with three stages: two phases are on their way while one is used.
#include "check.h"
#include "copy_async.h"

constexpr int STAGES = 3;
constexpr int TILE = 64;
constexpr int STEP = 16;

struct Stage {
  alignas(16) float m[TILE][STEP];
  alignas(16) float n[STEP][TILE];
};

struct Source {
  const float* data;
  int rows, cols;

  __device__ void copy(float* to, int r, int c) const {
    if ((cols & 3) == 0) {
      const bool there = r < rows && c < cols;
      copy_async<16>(to, there ? data + (size_t)r * cols + c : data, there);
      return;
    }
    for (int d = 0; d < 4; d++) {
      const bool there = r < rows && c + d < cols;
      copy_async<4>(to + d, there ? data + (size_t)r * cols + c + d : data, there);
    }
  }
};

__device__ inline void request(Stage& s, const Source& M, const Source& N, int r0, int c0, int k0,
                               int t) {
  const int mr = t >> 2, mc = (t & 3) << 2;
  M.copy(&s.m[mr][mc], r0 + mr, k0 + mc);
  const int nr = t >> 4, nc = (t & 15) << 2;
  N.copy(&s.n[nr][nc], k0 + nr, c0 + nc);
}

__global__ void pipelined(Source M, Source N, float* P) {
  __shared__ Stage ring[STAGES];
  const int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  const int r0 = blockIdx.y * TILE, c0 = blockIdx.x * TILE;
  const int K = M.cols;
  const int count = (K + STEP - 1) / STEP;

  int asked = 0;
  for (; asked < STAGES - 1; ++asked) {
    if (asked < count) request(ring[asked], M, N, r0, c0, asked * STEP, t);
    __pipeline_commit();
  }

  float acc[4][4] = {};
  int now = 0;
  for (int f = 0; f < count; ++f, ++asked) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    if (asked < count) request(ring[asked % STAGES], M, N, r0, c0, asked * STEP, t);
    __pipeline_commit();

    const Stage& s = ring[now];
#pragma unroll
    for (int i = 0; i < STEP; i += 4) {
      float4 a[4], b[4];
      for (int q = 0; q < 4; q++) {
        a[q] = *(const float4*)&s.m[ty + 16 * q][i];
        b[q] = *(const float4*)&s.n[i + q][4 * tx];
      }
      for (int q = 0; q < 4; q++) {
        const float av[4] = {a[q].x, a[q].y, a[q].z, a[q].w};
        for (int e = 0; e < 4; e++) {
          acc[q][0] += av[e] * b[e].x;
          acc[q][1] += av[e] * b[e].y;
          acc[q][2] += av[e] * b[e].z;
          acc[q][3] += av[e] * b[e].w;
        }
      }
    }
    now = now + 1 == STAGES ? 0 : now + 1;
  }

  const int L = N.cols, col = c0 + 4 * tx;
  for (int q = 0; q < 4; q++) {
    const int row = r0 + ty + 16 * q;
    if (row >= M.rows) return;
    float* to = P + (size_t)row * L + col;
    if (L % 4 == 0 && col < L) {
      *(float4*)to = make_float4(acc[q][0], acc[q][1], acc[q][2], acc[q][3]);
    } else {
      for (int e = 0; e < 4; e++)
        if (col + e < L) to[e] = acc[q][e];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Source m = {M, j, k}, n = {N, k, l};
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  pipelined<<<grid, 256>>>(m, n, P);
  CHECK(cudaGetLastError());
}
