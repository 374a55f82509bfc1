/* Lab 06: transposed tile of M without padding; word (i, r) is kept at r ^ 4i of row i (swizzle),
   and a warp loads 8 columns of 4 rows. */
#include "check.h"

enum { BR = 64, BC = 64, BD = 16, RR = 4, RC = 4, NT = 256 };

struct args {
  const float *m, *n;
  float *p;
  int j, k, l;
};

__device__ static int scramble(int i, int r) { return i * BR + (r ^ (i << 2)); }

__device__ static void load_m(float *tile, const struct args *a, int row0, int k0) {
  int w = threadIdx.x >> 5, ln = threadIdx.x & 31;
  int dc = ln & 7, dr = ln >> 3;
  for (int s = w; s < 32; s += 8) { /* a piece of 4 rows by 8 columns */
    int r = (s >> 1) * 4 + dr;
    int i = (s & 1) * 8 + dc;
    float v = 0;
    if (row0 + r < a->j && k0 + i < a->k) v = a->m[(size_t)(row0 + r) * a->k + (k0 + i)];
    tile[scramble(i, r)] = v;
  }
}

__device__ static void load_n(float *tile, const struct args *a, int k0, int col0) {
  for (int e = threadIdx.x; e < BD * BC; e += NT) {
    int i = e >> 6, c = e & 63;
    float v = 0;
    if (k0 + i < a->k && col0 + c < a->l) v = a->n[(size_t)(k0 + i) * a->l + (col0 + c)];
    tile[e] = v;
  }
}

__global__ void gemm64(struct args a) {
  __shared__ __align__(16) float tm[BD * BR];
  __shared__ __align__(16) float tn[BD * BC];
  int x = threadIdx.x % (BC / RC), y = threadIdx.x / (BC / RC);
  int row0 = blockIdx.y * BR, col0 = blockIdx.x * BC;
  float s[RR][RC] = {{0}};

  for (int k0 = 0; k0 < a.k; k0 += BD) {
    load_m(tm, &a, row0, k0);
    load_n(tn, &a, k0, col0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BD; i++) {
      const float *pm = tm + scramble(i, y * RR);
      const float *pn = tn + i * BC + x;
#pragma unroll
      for (int r = 0; r < RR; r++)
#pragma unroll
        for (int c = 0; c < RC; c++) s[r][c] += pm[r] * pn[c * (BC / RC)];
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < RR; r++) {
    int row = row0 + y * RR + r;
#pragma unroll
    for (int c = 0; c < RC; c++) {
      int col = col0 + x + c * (BC / RC);
      if (row < a.j && col < a.l) a.p[(size_t)row * a.l + col] = s[r][c];
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  struct args a = {M, N, P, j, k, l};
  dim3 g((l + BC - 1) / BC, (j + BR - 1) / BR, 1);
  gemm64<<<g, NT>>>(a);
  CHECK(cudaGetLastError());
}
