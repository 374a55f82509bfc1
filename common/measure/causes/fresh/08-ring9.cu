// Lab 08 by Wei: a ring of three stages, two phases on their way while one is used.
#include "check.h"
#include "copy_async.h"

#define BLOCK 64
#define SLICE 16
#define RING 3

struct Stage {
  float m[BLOCK][SLICE];
  float n[SLICE][BLOCK];
};

struct Source {
  const float* base;
  int rows, cols;

  // four floats, beginning at (row, col)
  __device__ void send(float* target, int row, int col) const {
    const bool row_ok = row < rows;
    const float* p = base + (size_t)row * cols + col;
    if ((cols & 3) == 0) {
      const bool ok = row_ok && col < cols;
      copy_async<16>(target, ok ? p : base, ok);
      return;
    }
#pragma unroll
    for (int d = 0; d < 4; d++) {
      const bool ok = row_ok && col + d < cols;
      copy_async<4>(target + d, ok ? p + d : base, ok);
    }
  }
};

__device__ float4 quad(const float* p) { return *reinterpret_cast<const float4*>(p); }

__global__ void ring_kernel(Source M, Source N, float* P) {
  __shared__ alignas(16) Stage ring[RING];
  const int j = M.rows, l = N.cols;
  const int id = threadIdx.x;
  const int gx = id % 16 * 4, gy = id / 16;
  const int by = blockIdx.y * BLOCK, bx = blockIdx.x * BLOCK;
  const int phases = (M.cols + SLICE - 1) / SLICE;

  auto request = [&](int phase, Stage& to) {
    if (phase < phases) {
      const int mr = id / 4, mc = id % 4 * 4;
      M.send(&to.m[mr][mc], by + mr, phase * SLICE + mc);
      N.send(&to.n[gy][gx], phase * SLICE + gy, bx + gx);
    }
    __pipeline_commit();  // an empty group at the end, so that the counting stays right
  };

  float acc[4][4] = {};
  request(0, ring[0]);
  request(1, ring[1]);
  int now = 0;
  for (int phase = 0; phase < phases; phase++) {
    __pipeline_wait_prior(1);
    __syncthreads();
    request(phase + 2, ring[(now + 2) % RING]);
    const Stage& s = ring[now];
#pragma unroll
    for (int i = 0; i < SLICE; i += 4) {
      float4 n[4];
      for (int u = 0; u < 4; u++) n[u] = quad(&s.n[i + u][gx]);
      for (int r = 0; r < 4; r++) {
        const float4 q = quad(&s.m[gy + 16 * r][i]);
        const float m[4] = {q.x, q.y, q.z, q.w};
        for (int u = 0; u < 4; u++) {
          acc[r][0] += m[u] * n[u].x;
          acc[r][1] += m[u] * n[u].y;
          acc[r][2] += m[u] * n[u].z;
          acc[r][3] += m[u] * n[u].w;
        }
      }
    }
    if (++now == RING) now = 0;
  }

  for (int r = 0; r < 4; r++) {
    const int row = by + gy + 16 * r, col = bx + gx;
    if (row >= j) break;
    float* to = P + (size_t)row * l + col;
    if (l % 4 == 0) {
      if (col < l) *reinterpret_cast<float4*>(to) = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    } else {
      for (int d = 0; d < 4 && col + d < l; d++) to[d] = acc[r][d];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + BLOCK - 1) / BLOCK, (j + BLOCK - 1) / BLOCK);
  ring_kernel<<<grid, 256>>>(Source{M, j, k}, Source{N, k, l}, P);
  CHECK(cudaGetLastError());
}
