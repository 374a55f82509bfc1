// Lab 07: Vec4 helpers as in a shader, flat block of 256.
#include "check.h"

#define TILE 64
#define DEEP 16
#define LANES 16
#define NTHREADS 256

struct Mat {
  const float* p;
  int h, w;
  __device__ bool aligned() const { return (w & 3) == 0; }
  __device__ float one(int y, int x) const { return x < w ? p[size_t(y) * w + x] : 0.f; }
  __device__ float4 four(int y, int x) const {
    if (y >= h || x >= w) return make_float4(0.f, 0.f, 0.f, 0.f);
    if (aligned()) return *(const float4*)(p + size_t(y) * w + x);
    return make_float4(one(y, x), one(y, x + 1), one(y, x + 2), one(y, x + 3));
  }
};

__device__ void madd(float4& acc, float s, const float4& v) {
  acc.x += s * v.x;
  acc.y += s * v.y;
  acc.z += s * v.z;
  acc.w += s * v.w;
}

__device__ void put(float* row, int x, int w, float4 v) {
  if ((w & 3) == 0) {
    if (x < w) *(float4*)(row + x) = v;
    return;
  }
  if (x < w) row[x] = v.x;
  if (x + 1 < w) row[x + 1] = v.y;
  if (x + 2 < w) row[x + 2] = v.z;
  if (x + 3 < w) row[x + 3] = v.w;
}

__global__ void shade(Mat A, Mat B, float* C) {
  __shared__ float4 sa[TILE][DEEP / 4];
  __shared__ float4 sb[DEEP][TILE / 4];
  const int id = threadIdx.x;
  const int ix = id % LANES, iy = id / LANES;
  const int y0 = blockIdx.y * TILE, x0 = blockIdx.x * TILE;

  float4 acc[4];
  for (int r = 0; r < 4; ++r) acc[r] = make_float4(0.f, 0.f, 0.f, 0.f);

  for (int z = 0; z < A.w; z += DEEP) {
    // 256 float4 in each tile: one per thread
    sa[id / 4][id % 4] = A.four(y0 + id / 4, z + id % 4 * 4);
    sb[iy][ix] = B.four(z + iy, x0 + ix * 4);
    __syncthreads();
    for (int q = 0; q < DEEP / 4; ++q) {
      const float4 b0 = sb[q * 4][ix], b1 = sb[q * 4 + 1][ix];
      const float4 b2 = sb[q * 4 + 2][ix], b3 = sb[q * 4 + 3][ix];
      for (int r = 0; r < 4; ++r) {
        const float4 a = sa[iy + r * LANES][q];
        madd(acc[r], a.x, b0);
        madd(acc[r], a.y, b1);
        madd(acc[r], a.z, b2);
        madd(acc[r], a.w, b3);
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 4; ++r) {
    const int y = y0 + iy + r * LANES;
    if (y < A.h) put(C + size_t(y) * B.w, x0 + ix * 4, B.w, acc[r]);
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Mat A = {M, j, k}, B = {N, k, l};
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  shade<<<grid, NTHREADS>>>(A, B, P);
  CHECK(cudaGetLastError());
}
