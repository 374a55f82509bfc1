// Lab 07 (Tomi, hobby ray tracer). One kernel per combination of aligned and unaligned matrices.
#include "check.h"

constexpr int TILE = 64, STEP = 16;

struct V4 {
  float4 q;
  __device__ V4() : q(make_float4(0, 0, 0, 0)) {}
  __device__ V4(float4 f) : q(f) {}
};

__device__ V4 mad(float s, V4 v, V4 acc) {
  acc.q.x += s * v.q.x;
  acc.q.y += s * v.q.y;
  acc.q.z += s * v.q.z;
  acc.q.w += s * v.q.w;
  return acc;
}

template <bool WIDE>
__device__ V4 grab(const float* mat, int h, int w, int y, int x) {
  V4 out;
  if (y >= h || x >= w) return out;
  const float* p = mat + (size_t)y * w + x;
  if (WIDE) return V4(*(const float4*)p);
  int n = w - x;  // how many are left in the row
  out.q.x = p[0];
  if (n > 1) out.q.y = p[1];
  if (n > 2) out.q.z = p[2];
  if (n > 3) out.q.w = p[3];
  return out;
}

template <bool WIDE>
__device__ void put(float* mat, int h, int w, int y, int x, V4 v) {
  if (y >= h || x >= w) return;
  float* p = mat + (size_t)y * w + x;
  if (WIDE) {
    *(float4*)p = v.q;
    return;
  }
  int n = w - x;
  p[0] = v.q.x;
  if (n > 1) p[1] = v.q.y;
  if (n > 2) p[2] = v.q.z;
  if (n > 3) p[3] = v.q.w;
}

template <bool K4, bool L4>
__global__ void vecmul(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float4 a[TILE][STEP / 4];   // a[row][quad of k]
  __shared__ float4 b[STEP][TILE / 4];   // b[k][quad of columns]
  int t = threadIdx.x;                   // 0..255
  int cx = t & 15, cy = t >> 4;          // in the 16 x 16 raster of threads
  int ay = t >> 2, ax = t & 3;           // my quad of a
  int y0 = blockIdx.y * TILE, x0 = blockIdx.x * TILE;

  V4 acc[4];
  for (int s = 0; s < k; s += STEP) {
    a[ay][ax] = grab<K4>(M, j, k, y0 + ay, s + ax * 4).q;
    b[cy][cx] = grab<L4>(N, k, l, s + cy, x0 + cx * 4).q;
    __syncthreads();
#pragma unroll
    for (int g = 0; g < STEP / 4; g++) {
      V4 b0 = b[g * 4][cx];
      V4 b1 = b[g * 4 + 1][cx];
      V4 b2 = b[g * 4 + 2][cx];
      V4 b3 = b[g * 4 + 3][cx];
#pragma unroll
      for (int r = 0; r < 4; r++) {
        float4 m = a[cy + r * 16][g];
        acc[r] = mad(m.x, b0, acc[r]);
        acc[r] = mad(m.y, b1, acc[r]);
        acc[r] = mad(m.z, b2, acc[r]);
        acc[r] = mad(m.w, b3, acc[r]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; r++) put<L4>(P, j, l, y0 + cy + r * 16, x0 + cx * 4, acc[r]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  bool k4 = k % 4 == 0, l4 = l % 4 == 0;
  if (k4 && l4)
    vecmul<true, true><<<grid, 256>>>(M, N, P, j, k, l);
  else if (k4)
    vecmul<true, false><<<grid, 256>>>(M, N, P, j, k, l);
  else if (l4)
    vecmul<false, true><<<grid, 256>>>(M, N, P, j, k, l);
  else
    vecmul<false, false><<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
