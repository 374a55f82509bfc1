/* Emil -- deeper tiles: 32 steps, so a warp loads one row of M and stores one column. Pad by one. */
#include "check.h"

#define ROWS 64
#define COLS 64
#define DEEP 32
#define PAD 1
#define LDM (ROWS + PAD)
#define WARPS 8
#define CEIL(a, b) (((a) + (b) - 1) / (b))

typedef float col4[4];

__device__ static void mac(col4 sum[4], const col4 m, const col4 n) {
#pragma unroll
  for (int i = 0; i < 16; i++) sum[i >> 2][i & 3] += m[i >> 2] * n[i & 3];
}

__global__ void deep(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float tm[DEEP * LDM];
  __shared__ float tn[DEEP * COLS];

  const int t = threadIdx.x;
  const int lane = t % 32, warp = t / 32;
  const int px = t & 15, py = t >> 4;
  const int y0 = blockIdx.y * ROWS, x0 = blockIdx.x * COLS;
  col4 sum[4] = {};

  const int turns = CEIL(k, DEEP);
  for (int turn = 0; turn < turns; turn++) {
    const int z = turn * DEEP;

    for (int r = warp; r < ROWS; r += WARPS) {
      float* to = &tm[lane * LDM + r];
      *to = 0.0f;
      if (y0 + r < j && z + lane < k) *to = M[(size_t)(y0 + r) * k + z + lane];
    }
    for (int d = warp; d < DEEP; d += WARPS) {
      for (int half = 0; half < COLS; half += 32) {
        const int x = x0 + half + lane;
        float* to = &tn[d * COLS + half + lane];
        *to = 0.0f;
        if (z + d < k && x < l) *to = N[(size_t)(z + d) * l + x];
      }
    }
    __syncthreads();

    for (int d = 0; d < DEEP; d++) {
      const float* m = &tm[d * LDM + 4 * py];
      const float* n = &tn[d * COLS + px];
      const col4 a = {m[0], m[1], m[2], m[3]};
      const col4 b = {n[0], n[16], n[32], n[48]};
      mac(sum, a, b);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 16; i++) {
    const int y = y0 + 4 * py + (i >> 2);
    const int x = x0 + px + 16 * (i & 3);
    if (y < j && x < l) P[(size_t)y * l + x] = sum[i >> 2][i & 3];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid(CEIL(l, COLS), CEIL(j, ROWS), 1);
  deep<<<grid, WARPS * 32>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
