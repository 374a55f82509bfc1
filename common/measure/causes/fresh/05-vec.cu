// Lab 05, game engine manner: a thread owns 8 rows of four columns, kept as vec4.
// 128 threads: 16 across, 8 down.
#include "check.h"

struct vec4 {
  float x, y, z, w;
};
__device__ inline void madd(vec4& acc, float s, const vec4& v) {
  acc.x += s * v.x;
  acc.y += s * v.y;
  acc.z += s * v.z;
  acc.w += s * v.w;
}

enum { TX = 16, TY = 8, ROWS = 8, SPAN = 64, STEP = 8, NUM = TX * TY };

struct Params {
  const float* m;
  const float* n;
  float* p;
  int j, k, l;
};

__device__ inline void put(const Params& q, int row, int col, float value) {
  if (row < q.j && col < q.l) q.p[size_t(row) * q.l + col] = value;
}

__global__ void __launch_bounds__(NUM) raster(Params q) {
  __shared__ float colM[STEP][SPAN];
  __shared__ float rowN[STEP][SPAN];

  const int tid = threadIdx.y * TX + threadIdx.x;
  const int originY = blockIdx.y * SPAN, originX = blockIdx.x * SPAN;
  vec4 acc[ROWS] = {};

  for (int k0 = 0; k0 < q.k; k0 += STEP) {
    // the tile of M: 64 rows of 8
    for (int e = tid; e < SPAN * STEP; e += NUM) {
      const int y = originY + (e >> 3), x = k0 + (e & 7);
      float value = 0;
      if (y < q.j && x < q.k) value = q.m[size_t(y) * q.k + x];
      colM[e & 7][e >> 3] = value;
    }
    // the tile of N: 8 rows of 64
    for (int e = tid; e < STEP * SPAN; e += NUM) {
      const int y = k0 + (e >> 6), x = originX + (e & 63);
      float value = 0;
      if (y < q.k && x < q.l) value = q.n[size_t(y) * q.l + x];
      rowN[e >> 6][e & 63] = value;
    }
    __syncthreads();

    for (int s = 0; s < STEP; ++s) {
      const float* line = &rowN[s][threadIdx.x];
      const vec4 n = {line[0], line[TX], line[2 * TX], line[3 * TX]};
      for (int r = 0; r < ROWS; ++r) madd(acc[r], colM[s][threadIdx.y * ROWS + r], n);
    }
    __syncthreads();
  }

  for (int r = 0; r < ROWS; ++r) {
    const int row = originY + threadIdx.y * ROWS + r, col = originX + threadIdx.x;
    put(q, row, col, acc[r].x);
    put(q, row, col + TX, acc[r].y);
    put(q, row, col + 2 * TX, acc[r].z);
    put(q, row, col + 3 * TX, acc[r].w);
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Params q{M, N, P, j, k, l};
  dim3 threads(TX, TY), groups((l + SPAN - 1) / SPAN, (j + SPAN - 1) / SPAN);
  raster<<<groups, threads>>>(q);
  CHECK(cudaGetLastError());
}
