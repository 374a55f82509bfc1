// Lab 08 with three stages and NVIDIA's own copy call.
#include <cuda_pipeline.h>

#include "check.h"

constexpr int Tile = 64, Deep = 16, Stages = 3, Threads = 256;

struct Source {
  const float* base;
  int rows, cols;
};

__device__ void fetch(float* dst, const Source& s, int row, int col) {
  if (s.cols % 4 == 0) {
    const bool ok = row < s.rows && col < s.cols;
    const float* src = ok ? s.base + size_t(row) * s.cols + col : s.base;
    __pipeline_memcpy_async(dst, src, 16, ok ? 0 : 16);
    return;
  }
  for (int n = 0; n < 4; ++n) {
    const bool ok = row < s.rows && col + n < s.cols;
    const float* src = ok ? s.base + size_t(row) * s.cols + col + n : s.base;
    __pipeline_memcpy_async(dst + n, src, 4, ok ? 0 : 4);
  }
}

struct alignas(16) Slot {
  float m[Tile][Deep];
  float n[Deep][Tile];
};

__device__ void request(Slot& slot, const Source& m, const Source& n, int at) {
  const int t = threadIdx.x;
  const int row = blockIdx.y * Tile, col = blockIdx.x * Tile;
  fetch(&slot.m[t / 4][t % 4 * 4], m, row + t / 4, at + t % 4 * 4);
  fetch(&slot.n[t / 16][t % 16 * 4], n, at + t / 16, col + t % 16 * 4);
}

__global__ void ahead(Source m, Source n, float* P) {
  __shared__ Slot slots[Stages];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int steps = (m.cols + Deep - 1) / Deep;
  const int j = m.rows, l = n.cols;

  for (int s = 0; s < Stages - 1; ++s) {
    if (s < steps) request(slots[s], m, n, s * Deep);
    __pipeline_commit();
  }

  float4 acc[4] = {};
  int use = 0, fill = Stages - 1;
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(Stages - 2);
    __syncthreads();
    const int next = step + Stages - 1;
    if (next < steps) request(slots[fill], m, n, next * Deep);
    __pipeline_commit();  // empty at the end, so that the count stays right

    const Slot& slot = slots[use];
    for (int i = 0; i < Deep; i += 4) {
      float4 a[4];
      for (int r = 0; r < 4; ++r) {
        a[r] = *reinterpret_cast<const float4*>(&slot.m[ty + 16 * r][i]);
      }
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float4 b = *reinterpret_cast<const float4*>(&slot.n[i + s][4 * tx]);
        for (int r = 0; r < 4; ++r) {
          const float f = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
          acc[r].x += f * b.x;
          acc[r].y += f * b.y;
          acc[r].z += f * b.z;
          acc[r].w += f * b.w;
        }
      }
    }
    use = (use + 1) % Stages;
    fill = (fill + 1) % Stages;
  }

  const int col = blockIdx.x * Tile + 4 * tx;
  for (int r = 0; r < 4; ++r) {
    const int row = blockIdx.y * Tile + ty + 16 * r;
    if (row >= j || col >= l) continue;
    float* to = P + size_t(row) * l + col;
    if (l % 4 == 0) {
      *reinterpret_cast<float4*>(to) = acc[r];
    } else {
      to[0] = acc[r].x;
      if (col + 1 < l) to[1] = acc[r].y;
      if (col + 2 < l) to[2] = acc[r].z;
      if (col + 3 < l) to[3] = acc[r].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Source m = {M, j, k}, n = {N, k, l};
  const dim3 grid((l + Tile - 1) / Tile, (j + Tile - 1) / Tile);
  ahead<<<grid, Threads>>>(m, n, P);
  CHECK(cudaGetLastError());
}
