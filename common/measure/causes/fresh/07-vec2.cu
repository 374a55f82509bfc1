// Vector access. Coming from shaders: float4 everywhere, and one kernel per combination of alignments.
#include "check.h"

namespace {

constexpr int kTile = 64, kDepth = 16, kSide = 16;

template <bool Aligned>
__device__ float4 Sample(const float* tex, int height, int width, int y, int x) {
  float4 texel = make_float4(0.f, 0.f, 0.f, 0.f);
  if (y < height && x < width) {
    const float* p = tex + size_t(y) * width + x;
    if (Aligned) {
      texel = *reinterpret_cast<const float4*>(p);
    } else {
      const int left = width - x;
      texel.x = p[0];
      if (left > 1) texel.y = p[1];
      if (left > 2) texel.z = p[2];
      if (left > 3) texel.w = p[3];
    }
  }
  return texel;
}

template <bool Aligned>
__device__ void Write(float* tex, int height, int width, int y, int x, float4 v) {
  if (y >= height || x >= width) return;
  float* p = tex + size_t(y) * width + x;
  if (Aligned) {
    *reinterpret_cast<float4*>(p) = v;
  } else {
    p[0] = v.x;
    if (x + 1 < width) p[1] = v.y;
    if (x + 2 < width) p[2] = v.z;
    if (x + 3 < width) p[3] = v.w;
  }
}

__device__ void Mad(float4& acc, float s, const float4& v) {
  acc.x += s * v.x;
  acc.y += s * v.y;
  acc.z += s * v.z;
  acc.w += s * v.w;
}

template <bool AlignedK, bool AlignedL>
__global__ void Multiply(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float4 tileM[kTile][kDepth / 4];
  __shared__ float4 tileN[kDepth][kTile / 4];

  const int id = threadIdx.x;
  const int x = id % kSide, y = id / kSide;
  const int originY = blockIdx.y * kTile, originX = blockIdx.x * kTile;
  float4 acc[4];
  for (float4& a : acc) a = make_float4(0.f, 0.f, 0.f, 0.f);

  for (int d = 0; d < k; d += kDepth) {
    const int my = id / (kDepth / 4), mx = id % (kDepth / 4);
    tileM[my][mx] = Sample<AlignedK>(M, j, k, originY + my, d + 4 * mx);
    tileN[y][x] = Sample<AlignedL>(N, k, l, d + y, originX + 4 * x);
    __syncthreads();

#pragma unroll
    for (int q = 0; q < kDepth / 4; ++q) {
      float4 b[4];
      for (int s = 0; s < 4; ++s) b[s] = tileN[4 * q + s][x];
      for (int r = 0; r < 4; ++r) {
        const float4 a = tileM[y + r * kSide][q];
        Mad(acc[r], a.x, b[0]);
        Mad(acc[r], a.y, b[1]);
        Mad(acc[r], a.z, b[2]);
        Mad(acc[r], a.w, b[3]);
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 4; ++r)
    Write<AlignedL>(P, j, l, originY + y + r * kSide, originX + 4 * x, acc[r]);
}

}  // namespace

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 blocks((l + kTile - 1) / kTile, (j + kTile - 1) / kTile);
  auto kernel = Multiply<false, false>;
  const bool wholeK = k % 4 == 0, wholeL = l % 4 == 0;
  if (wholeK && wholeL) kernel = Multiply<true, true>;
  else if (wholeK) kernel = Multiply<true, false>;
  else if (wholeL) kernel = Multiply<false, true>;
  kernel<<<blocks, kSide * kSide>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
