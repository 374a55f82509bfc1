// Lab 06, embedded: shifts and masks, a swizzle in place of the padding.
#include <stdint.h>

#include "check.h"

#define BLK 64
#define DEP 16

// word of element (i, r) of the transposed tile; groups of four words stay together
__device__ static inline int sw(int i, int r) {
  return (i << 6) | (r ^ ((i & 7) << 2));
}

__global__ void k06(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float tm[DEP * BLK];
  __shared__ float tn[DEP * BLK];

  const int t = threadIdx.x;
  const int tx = t & 15, ty = t >> 4;
  const int warp = t >> 5, lane = t & 31;
  const int by = blockIdx.y << 6, bx = blockIdx.x << 6;

  float s00[4] = {0}, s01[4] = {0}, s02[4] = {0}, s03[4] = {0};
  float* s[4] = {s00, s01, s02, s03};

  for (int k0 = 0; k0 < k; k0 += DEP) {
    // a warp loads 8 columns of 4 rows; 8 warps make 32 rows, four turns
    for (int turn = 0; turn < 4; ++turn) {
      const int r = ((turn >> 1) << 5) + (warp << 2) + (lane >> 3);
      const int i = ((turn & 1) << 3) + (lane & 7);
      float v = 0;
      if (by + r < j && k0 + i < k) v = M[(int64_t)(by + r) * k + k0 + i];
      tm[sw(i, r)] = v;
    }
    for (int e = t; e < DEP * BLK; e += 256) {
      const int i = e >> 6, c = e & 63;
      float v = 0;
      if (k0 + i < k && bx + c < l) v = N[(int64_t)(k0 + i) * l + bx + c];
      tn[e] = v;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < DEP; ++i) {
      float a[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) a[u] = tm[sw(i, (ty << 2) + u)];
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const float b = tn[(i << 6) + tx + (v << 4)];
#pragma unroll
        for (int u = 0; u < 4; ++u) s[u][v] += a[u] * b;
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const int y = by + (ty << 2) + u;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int x = bx + tx + (v << 4);
      if (y < j && x < l) P[(int64_t)y * l + x] = s[u][v];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 g((l + 63) >> 6, (j + 63) >> 6);
  k06<<<g, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
