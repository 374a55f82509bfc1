// The choice between vectors and single floats is made once, on the host.
#include "check.h"

template <bool Quad>
__device__ float4 fetch(const float* base, int h, int w, int y, int x) {
  if (y >= h) return make_float4(0, 0, 0, 0);
  const float* p = base + size_t(y) * w + x;
  if (Quad) return x < w ? *reinterpret_cast<const float4*>(p) : make_float4(0, 0, 0, 0);
  return make_float4(x < w ? p[0] : 0, x + 1 < w ? p[1] : 0, x + 2 < w ? p[2] : 0,
                     x + 3 < w ? p[3] : 0);
}

template <bool Quad>
__device__ void put(float* base, int h, int w, int y, int x, float4 v) {
  if (y >= h || x >= w) return;
  float* p = base + size_t(y) * w + x;
  if (Quad) {
    *reinterpret_cast<float4*>(p) = v;
    return;
  }
  p[0] = v.x;
  if (x + 1 < w) p[1] = v.y;
  if (x + 2 < w) p[2] = v.z;
  if (x + 3 < w) p[3] = v.w;
}

__device__ void axpy(float4& y, float a, const float4& x) {
  y.x += a * x.x;
  y.y += a * x.y;
  y.z += a * x.z;
  y.w += a * x.w;
}

template <bool QuadM, bool QuadN>
__global__ void quads(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float4 a[64][4];   // 64 rows of 16 floats
  __shared__ float4 b[16][16];  // 16 rows of 64 floats
  const int t = threadIdx.x;
  const int u = t % 16, v = t / 16;
  const int y0 = blockIdx.y * 64, x0 = blockIdx.x * 64;

  float4 acc[4];
  for (float4& q : acc) q = make_float4(0, 0, 0, 0);

  for (int z = 0; z < k; z += 16) {
    a[t / 4][t % 4] = fetch<QuadM>(M, j, k, y0 + t / 4, z + t % 4 * 4);
    b[v][u] = fetch<QuadN>(N, k, l, z + v, x0 + 4 * u);
    __syncthreads();

#pragma unroll
    for (int g = 0; g < 4; ++g) {
      const float4 b0 = b[4 * g][u], b1 = b[4 * g + 1][u];
      const float4 b2 = b[4 * g + 2][u], b3 = b[4 * g + 3][u];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float4 w = a[v + 16 * r][g];
        axpy(acc[r], w.x, b0);
        axpy(acc[r], w.y, b1);
        axpy(acc[r], w.z, b2);
        axpy(acc[r], w.w, b3);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < 4; ++r) put<QuadN>(P, j, l, y0 + v + 16 * r, x0 + 4 * u, acc[r]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const bool qm = k % 4 == 0;
  const bool qn = l % 4 == 0;
  auto kernel = qm ? (qn ? quads<true, true> : quads<true, false>)
                   : (qn ? quads<false, true> : quads<false, false>);
  const dim3 grid((l + 63) / 64, (j + 63) / 64);
  kernel<<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
