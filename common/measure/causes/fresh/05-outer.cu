#include "check.h"

#define SIDE 32  // of a block's part of P
#define DEPTH 8

// 16 x 16 threads, each a 2 x 2 patch
__global__ void patches(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float mt[SIDE][DEPTH], nt[DEPTH][SIDE];
  int id = threadIdx.y * 16 + threadIdx.x;
  int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
  int mr = id / DEPTH, mc = id % DEPTH;
  int nr = id / SIDE, nc = id % SIDE;
  float p00 = 0, p01 = 0, p10 = 0, p11 = 0;
  for (int step = 0; step < k; step += DEPTH) {
    mt[mr][mc] = top + mr < j && step + mc < k ? M[(top + mr) * k + step + mc] : 0;
    nt[nr][nc] = step + nr < k && left + nc < l ? N[(step + nr) * l + left + nc] : 0;
    __syncthreads();
    for (int d = 0; d < DEPTH; d++) {
      float m0 = mt[2 * threadIdx.y][d], m1 = mt[2 * threadIdx.y + 1][d];
      float n0 = nt[d][2 * threadIdx.x], n1 = nt[d][2 * threadIdx.x + 1];
      p00 += m0 * n0;
      p01 += m0 * n1;
      p10 += m1 * n0;
      p11 += m1 * n1;
    }
    __syncthreads();
  }
  int r = top + 2 * threadIdx.y, c = left + 2 * threadIdx.x;
  if (r < j && c < l) P[r * l + c] = p00;
  if (r < j && c + 1 < l) P[r * l + c + 1] = p01;
  if (r + 1 < j && c < l) P[(r + 1) * l + c] = p10;
  if (r + 1 < j && c + 1 < l) P[(r + 1) * l + c + 1] = p11;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE);
  patches<<<grid, dim3(16, 16)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
