// Lab 08: a ring of three buffers, two of them always in flight, like a sound card's.
#include <cuda_pipeline.h>
#include "check.h"

constexpr int RING = 3;
constexpr int ROWS = 64, COLS = 64, HOP = 16;

struct Buffer {
  float m[ROWS][HOP];
  float n[HOP][COLS];
};

__device__ inline void enqueue4(float* dst, const float* sig, int rows, int cols, int r, int c) {
  const bool row_ok = r < rows;
  if (cols % 4 == 0) {
    const bool ok = row_ok && c < cols;
    __pipeline_memcpy_async(dst, ok ? sig + size_t(r) * cols + c : sig, 16, ok ? 0 : 16);
    return;
  }
#pragma unroll
  for (int ch = 0; ch < 4; ++ch, ++c) {
    const bool ok = row_ok && c < cols;
    __pipeline_memcpy_async(dst + ch, ok ? sig + size_t(r) * cols + c : sig, 4, ok ? 0 : 4);
  }
}

__global__ void stream_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(16) Buffer ring[RING];

  const int tid = threadIdx.x;
  const int gx = tid % 16, gy = tid / 16;
  const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLS;
  const int hops = (k + HOP - 1) / HOP;

  auto record = [&](int hop) {
    if (hop < hops) {
      Buffer& b = ring[hop % RING];
      const int mr = tid / 4, mc = tid % 4 * 4;
      enqueue4(&b.m[mr][mc], M, j, k, row0 + mr, hop * HOP + mc);
      enqueue4(&b.n[gy][gx * 4], N, k, l, hop * HOP + gy, col0 + gx * 4);
    }
    __pipeline_commit();  // an empty group at the end keeps the count right
  };

  float4 out[4] = {};
  record(0);
  record(1);
  for (int hop = 0; hop < hops; ++hop) {
    __pipeline_wait_prior(1);
    __syncthreads();
    record(hop + 2);

    const Buffer& b = ring[hop % RING];
#pragma unroll
    for (int i = 0; i < HOP; i += 4) {
      float4 coef[4];
      for (int s = 0; s < 4; ++s) coef[s] = *reinterpret_cast<const float4*>(&b.n[i + s][4 * gx]);
      for (int r = 0; r < 4; ++r) {
        const float4 x = *reinterpret_cast<const float4*>(&b.m[gy + 16 * r][i]);
        const float tap[4] = {x.x, x.y, x.z, x.w};
        for (int s = 0; s < 4; ++s) {
          out[r].x += tap[s] * coef[s].x;
          out[r].y += tap[s] * coef[s].y;
          out[r].z += tap[s] * coef[s].z;
          out[r].w += tap[s] * coef[s].w;
        }
      }
    }
  }

  for (int r = 0; r < 4; ++r) {
    const int row = row0 + gy + 16 * r, col = col0 + 4 * gx;
    if (row >= j) continue;
    float* to = P + size_t(row) * l + col;
    if (l % 4 == 0) {
      if (col < l) *reinterpret_cast<float4*>(to) = out[r];
    } else {
      if (col + 0 < l) to[0] = out[r].x;
      if (col + 1 < l) to[1] = out[r].y;
      if (col + 2 < l) to[2] = out[r].z;
      if (col + 3 < l) to[3] = out[r].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 blocks((l + COLS - 1) / COLS, (j + ROWS - 1) / ROWS);
  const int threads = (ROWS / 4) * (COLS / 4);
  stream_kernel<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
