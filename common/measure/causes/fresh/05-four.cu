#include "check.h"

constexpr int TILE = 32, HALF = TILE / 2;

// A thread has four elements of P: its own place in each quarter of the tile.
__global__ void four(const float* A, const float* B, float* C, int nr, int nk, int nc) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int u = threadIdx.x, v = threadIdx.y;
  int r0 = blockIdx.y * TILE + v, r1 = r0 + HALF;
  int c0 = blockIdx.x * TILE + u, c1 = c0 + HALF;
  float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  for (int t = 0; t < (nk + TILE - 1) / TILE; ++t) {
    int ka = t * TILE + u, kb = t * TILE + v;
    As[v][u] = r0 < nr && ka < nk ? A[r0 * nk + ka] : 0;
    As[v][u + HALF] = r0 < nr && ka + HALF < nk ? A[r0 * nk + ka + HALF] : 0;
    As[v + HALF][u] = r1 < nr && ka < nk ? A[r1 * nk + ka] : 0;
    As[v + HALF][u + HALF] = r1 < nr && ka + HALF < nk ? A[r1 * nk + ka + HALF] : 0;
    Bs[v][u] = kb < nk && c0 < nc ? B[kb * nc + c0] : 0;
    Bs[v][u + HALF] = kb < nk && c1 < nc ? B[kb * nc + c1] : 0;
    Bs[v + HALF][u] = kb + HALF < nk && c0 < nc ? B[(kb + HALF) * nc + c0] : 0;
    Bs[v + HALF][u + HALF] = kb + HALF < nk && c1 < nc ? B[(kb + HALF) * nc + c1] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) {
      float a0 = As[v][i], a1 = As[v + HALF][i];
      float b0 = Bs[i][u], b1 = Bs[i][u + HALF];
      s00 += a0 * b0;
      s01 += a0 * b1;
      s10 += a1 * b0;
      s11 += a1 * b1;
    }
    __syncthreads();
  }
  if (r0 < nr && c0 < nc) C[r0 * nc + c0] = s00;
  if (r0 < nr && c1 < nc) C[r0 * nc + c1] = s01;
  if (r1 < nr && c0 < nc) C[r1 * nc + c0] = s10;
  if (r1 < nr && c1 < nc) C[r1 * nc + c1] = s11;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  four<<<grid, dim3(HALF, HALF)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
