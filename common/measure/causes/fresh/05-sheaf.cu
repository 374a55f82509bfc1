#include <cuda_runtime.h>

// Each thread of a block of 8 x 32 owns 8 rows of one column; M's tile lies turned.
#define ROWS_T 8
#define TILE_R 64
#define TILE_C 32
#define STEP 16

typedef float real;

__global__ void sheaf(const real* __restrict__ left, const real* __restrict__ right, real* out, int j, int k,
                      int l) {
  __shared__ real mt[STEP][TILE_R + 1];
  __shared__ real nt[STEP][TILE_C];

  const int c = threadIdx.x, g = threadIdx.y;
  const int t = g * TILE_C + c;
  const long baseRow = (long)blockIdx.y * TILE_R;
  const long baseCol = (long)blockIdx.x * TILE_C;

  real s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;

  for (int p = 0; p < k; p += STEP) {
    for (int q = 0; q < TILE_R * STEP / 256; q++) {
      const int e = q * 256 + t;
      const int r = e / STEP, d = e % STEP;
      mt[d][r] = baseRow + r < j && p + d < k ? left[(baseRow + r) * k + p + d] : 0;
    }
    for (int q = 0; q < STEP * TILE_C / 256; q++) {
      const int e = q * 256 + t;
      const int d = e / TILE_C, cc = e % TILE_C;
      nt[d][cc] = p + d < k && baseCol + cc < l ? right[(long)(p + d) * l + baseCol + cc] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < STEP; d++) {
      const real b = nt[d][c];
      const real* a = &mt[d][g * ROWS_T];
      s0 += a[0] * b;
      s1 += a[1] * b;
      s2 += a[2] * b;
      s3 += a[3] * b;
      s4 += a[4] * b;
      s5 += a[5] * b;
      s6 += a[6] * b;
      s7 += a[7] * b;
    }
    __syncthreads();
  }

  const real all[ROWS_T] = {s0, s1, s2, s3, s4, s5, s6, s7};
  const long col = baseCol + c;
  if (col < l)
    for (int i = 0; i < ROWS_T; i++) {
      const long row = baseRow + g * ROWS_T + i;
      if (row < j) out[row * l + col] = all[i];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 threads(TILE_C, TILE_R / ROWS_T);
  dim3 blocks((l + TILE_C - 1) / TILE_C, (j + TILE_R - 1) / TILE_R);
  sheaf<<<blocks, threads>>>(M, N, P, j, k, l);
}
