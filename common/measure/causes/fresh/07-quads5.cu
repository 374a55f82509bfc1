// quads: four floats in one move, with a template for the two kinds of rows
#include "check.h"

namespace {

constexpr int kTile = 64, kDepth = 16, kSide = 16;
constexpr int kThreads = kSide * kSide;

struct Mat {
  const float* data;
  int h, w;
};

template <bool Quad>
__device__ float4 grab(const Mat& a, int y, int x) {
  float4 q = make_float4(0.f, 0.f, 0.f, 0.f);
  if (y >= a.h || x >= a.w) return q;
  const float* p = a.data + size_t(y) * a.w + x;
  if (Quad) {
    q = *(const float4*)p;
  } else {
    const int n = a.w - x;
    q.x = p[0];
    if (n > 1) q.y = p[1];
    if (n > 2) q.z = p[2];
    if (n > 3) q.w = p[3];
  }
  return q;
}

__device__ float4 axpy(float s, float4 v, float4 acc) {
  acc.x += s * v.x;
  acc.y += s * v.y;
  acc.z += s * v.z;
  acc.w += s * v.w;
  return acc;
}

template <bool QuadA, bool QuadB>
__global__ void quads(Mat a, Mat b, float* out) {
  __shared__ float4 ta[kTile][kDepth / 4];
  __shared__ float4 tb[kDepth][kTile / 4];
  const int id = threadIdx.x;
  const int tx = id % kSide, ty = id / kSide;
  const int y0 = blockIdx.y * kTile, x0 = blockIdx.x * kTile;
  float4 acc[4] = {};

  for (int z = 0; z < a.w; z += kDepth) {
    const int ra = id / 4, qa = id % 4;
    ta[ra][qa] = grab<QuadA>(a, y0 + ra, z + 4 * qa);
    tb[ty][tx] = grab<QuadB>(b, z + ty, x0 + 4 * tx);
    __syncthreads();
#pragma unroll
    for (int g = 0; g < kDepth / 4; ++g) {
      float4 n[4];
      for (int s = 0; s < 4; ++s) n[s] = tb[4 * g + s][tx];
      for (int r = 0; r < 4; ++r) {
        const float4 m = ta[ty + r * kSide][g];
        acc[r] = axpy(m.x, n[0], acc[r]);
        acc[r] = axpy(m.y, n[1], acc[r]);
        acc[r] = axpy(m.z, n[2], acc[r]);
        acc[r] = axpy(m.w, n[3], acc[r]);
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 4; ++r) {
    const int y = y0 + ty + r * kSide, x = x0 + 4 * tx;
    if (y >= a.h || x >= b.w) continue;
    float* p = out + size_t(y) * b.w + x;
    if (QuadB) {
      *(float4*)p = acc[r];
    } else {
      const int n = b.w - x;
      p[0] = acc[r].x;
      if (n > 1) p[1] = acc[r].y;
      if (n > 2) p[2] = acc[r].z;
      if (n > 3) p[3] = acc[r].w;
    }
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Mat a{M, j, k}, b{N, k, l};
  const dim3 grid((l + kTile - 1) / kTile, (j + kTile - 1) / kTile);
  const bool qa = k % 4 == 0, qb = l % 4 == 0;
  if (qa && qb) quads<true, true><<<grid, kThreads>>>(a, b, P);
  else if (qa) quads<true, false><<<grid, kThreads>>>(a, b, P);
  else if (qb) quads<false, true><<<grid, kThreads>>>(a, b, P);
  else quads<false, false><<<grid, kThreads>>>(a, b, P);
  CHECK(cudaGetLastError());
}
