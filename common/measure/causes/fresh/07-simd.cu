// Lab 7, written the way I write SSE: float4 is a register of four lanes.
#include "check.h"

typedef float4 vec4;

constexpr int ROWS = 64, COLS = 64, DEPTH = 16;
constexpr int VDEPTH = DEPTH / 4, VCOLS = COLS / 4;

__device__ __forceinline__ vec4 splat(float f) { return make_float4(f, f, f, f); }

__device__ __forceinline__ void madd(vec4& acc, float s, const vec4& v) {
  acc.x += s * v.x;
  acc.y += s * v.y;
  acc.z += s * v.z;
  acc.w += s * v.w;
}

template <bool ALIGNED>
__device__ vec4 gather(const float* base, int h, int w, int r, int c) {
  vec4 v = splat(0.0f);
  if (r >= h || c >= w) return v;
  const float* p = base + (size_t)r * w + c;
  if (ALIGNED) return *(const vec4*)p;
  switch (w - c) {
    default: v.w = p[3];
    case 3: v.z = p[2];
    case 2: v.y = p[1];
    case 1: v.x = p[0];
  }
  return v;
}

__device__ void scatter(float* base, int h, int w, int r, int c, vec4 v) {
  if (r >= h || c >= w) return;
  float* p = base + (size_t)r * w + c;
  if (w % 4 == 0) {
    *(vec4*)p = v;
    return;
  }
  p[0] = v.x;
  if (c + 1 < w) p[1] = v.y;
  if (c + 2 < w) p[2] = v.z;
  if (c + 3 < w) p[3] = v.w;
}

template <bool AL_M, bool AL_N>
__global__ void simd(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ vec4 sm[ROWS][VDEPTH];
  __shared__ vec4 sn[DEPTH][VCOLS];
  const int t = threadIdx.x;
  const int x = t % 16, y = t / 16;
  const int top = blockIdx.y * ROWS, left = blockIdx.x * COLS;

  vec4 acc[4] = {splat(0), splat(0), splat(0), splat(0)};
  for (int at = 0; at < k; at += DEPTH) {
    sm[t / VDEPTH][t % VDEPTH] = gather<AL_M>(M, j, k, top + t / VDEPTH, at + t % VDEPTH * 4);
    sn[t / VCOLS][t % VCOLS] = gather<AL_N>(N, k, l, at + t / VCOLS, left + t % VCOLS * 4);
    __syncthreads();
    for (int q = 0; q < VDEPTH; ++q) {
      const vec4 b0 = sn[4 * q][x], b1 = sn[4 * q + 1][x], b2 = sn[4 * q + 2][x],
                 b3 = sn[4 * q + 3][x];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const vec4 a = sm[y + 16 * r][q];
        madd(acc[r], a.x, b0);
        madd(acc[r], a.y, b1);
        madd(acc[r], a.z, b2);
        madd(acc[r], a.w, b3);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) scatter(P, j, l, top + y + 16 * r, left + 4 * x, acc[r]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 g((l + COLS - 1) / COLS, (j + ROWS - 1) / ROWS);
  const bool am = k % 4 == 0, an = l % 4 == 0;
  if (am && an)
    simd<true, true><<<g, 256>>>(M, N, P, j, k, l);
  else if (am)
    simd<true, false><<<g, 256>>>(M, N, P, j, k, l);
  else if (an)
    simd<false, true><<<g, 256>>>(M, N, P, j, k, l);
  else
    simd<false, false><<<g, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
