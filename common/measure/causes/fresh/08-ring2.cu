// Lab 08: a ring of three stages, filled with __pipeline_memcpy_async, two phases ahead.
#include <cuda_pipeline.h>
#include "check.h"

static constexpr int TB = 64, TK = 16, RING = 3, NT = 256;

struct Stage {
  alignas(16) float m[TB][TK];
  alignas(16) float n[TK][TB];
};

// Four floats of src (rows x cols) from (r, c) on; outside, zeros.
__device__ static void fetch(float* dst, const float* src, int rows, int cols, int r, int c) {
  const float* p = src + size_t(r) * cols + c;
  if ((cols & 3) == 0) {
    const bool ok = r < rows && c < cols;
    __pipeline_memcpy_async(dst, ok ? p : src, 16, ok ? 0 : 16);
    return;
  }
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const bool ok = r < rows && c + q < cols;
    __pipeline_memcpy_async(dst + q, ok ? p + q : src, 4, ok ? 0 : 4);
  }
}

__global__ void ringKernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Stage ring[RING];

  const int t = threadIdx.x;
  const int x = t & 15, y = t >> 4;
  const int r0 = blockIdx.y * TB, c0 = blockIdx.x * TB;
  const int phases = (k + TK - 1) / TK;

  auto request = [&](int ph) {
    if (ph < phases) {
      Stage& s = ring[ph % RING];
      const int mr = t / 4, mc = t % 4 * 4;
      fetch(&s.m[mr][mc], M, j, k, r0 + mr, ph * TK + mc);
      fetch(&s.n[y][x * 4], N, k, l, ph * TK + y, c0 + x * 4);
    }
    __pipeline_commit();  // an empty group at the end keeps the count right
  };

  float4 acc[4] = {};
  request(0);
  request(1);
  for (int ph = 0; ph < phases; ++ph) {
    __pipeline_wait_prior(1);
    __syncthreads();
    request(ph + 2);

    const Stage& s = ring[ph % RING];
#pragma unroll
    for (int i = 0; i < TK; i += 4) {
      float4 b[4];
      for (int q = 0; q < 4; ++q) b[q] = *reinterpret_cast<const float4*>(&s.n[i + q][x * 4]);
      for (int r = 0; r < 4; ++r) {
        const float4 a = *reinterpret_cast<const float4*>(&s.m[y + 16 * r][i]);
        const float f[4] = {a.x, a.y, a.z, a.w};
        for (int q = 0; q < 4; ++q) {
          acc[r].x += f[q] * b[q].x;
          acc[r].y += f[q] * b[q].y;
          acc[r].z += f[q] * b[q].z;
          acc[r].w += f[q] * b[q].w;
        }
      }
    }
  }

  for (int r = 0; r < 4; ++r) {
    const int row = r0 + y + 16 * r, col = c0 + 4 * x;
    if (row >= j) continue;
    float* out = P + size_t(row) * l + col;
    if (l % 4 == 0) {
      if (col < l) *reinterpret_cast<float4*>(out) = acc[r];
    } else {
      if (col + 0 < l) out[0] = acc[r].x;
      if (col + 1 < l) out[1] = acc[r].y;
      if (col + 2 < l) out[2] = acc[r].z;
      if (col + 3 < l) out[3] = acc[r].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int bx = (l + TB - 1) / TB, by = (j + TB - 1) / TB;
  ringKernel<<<dim3(bx, by), NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
