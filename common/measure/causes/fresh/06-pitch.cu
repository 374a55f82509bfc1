// lab 06 / flat shared memory with a pitch, index macros, loads through registers first
#include "check.h"

#define TILE 64
#define DEEP 16
#define NT 256
#define PITCH_A (TILE + 2)
#define PITCH_B TILE
#define A_AT(kk, rr) sA[(kk) * PITCH_A + (rr)]
#define B_AT(kk, cc) sB[(kk) * PITCH_B + (cc)]
#define CEIL(a, b) (((a) + (b) - 1) / (b))

__global__ void sgemm_pitch(const float* gA, const float* gB, float* gC, int m, int kdim, int n) {
  __shared__ float sA[DEEP * PITCH_A];
  __shared__ float sB[DEEP * PITCH_B];

  const int tid = threadIdx.x;
  const int tcol = tid & 15;
  const int trow = tid >> 4;
  const int row_base = blockIdx.y * TILE;
  const int col_base = blockIdx.x * TILE;

  float acc[4][4] = {};
  float ra[4], rb[4];

  for (int k0 = 0; k0 < kdim; k0 += DEEP) {
    // global -> registers
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      int arow = row_base + trow + 16 * q;
      int acol = k0 + tcol;
      ra[q] = (arow < m && acol < kdim) ? gA[(size_t)arow * kdim + acol] : 0.0f;
      int brow = k0 + (tid >> 6) + 4 * q;
      int bcol = col_base + (tid & 63);
      rb[q] = (brow < kdim && bcol < n) ? gB[(size_t)brow * n + bcol] : 0.0f;
    }
    // registers -> shared
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      A_AT(tcol, trow + 16 * q) = ra[q];
      B_AT((tid >> 6) + 4 * q, tid & 63) = rb[q];
    }
    __syncthreads();

    for (int kk = 0; kk < DEEP; ++kk) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        ra[q] = A_AT(kk, trow * 4 + q);
        rb[q] = B_AT(kk, tcol + 16 * q);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int c = 0; c < 4; ++c) acc[i][c] = fmaf(ra[i], rb[c], acc[i][c]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = row_base + trow * 4 + i;
    if (row >= m) continue;
    float* line = gC + (size_t)row * n;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int col = col_base + tcol + 16 * c;
      if (col < n) line[col] = acc[i][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid(CEIL(l, TILE), CEIL(j, TILE), 1);
  sgemm_pitch<<<grid, NT>>>(M, N, P, j, k, l);
  cudaError_t status = cudaGetLastError();
  CHECK(status);
}
