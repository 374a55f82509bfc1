// nils: 256 threads in a row, 32x32 tiles, pointers that walk through M and N
#include "check.h"

enum { EDGE = 32, STEP = 8, EACH = EDGE / STEP };

__global__ void __launch_bounds__(EDGE* STEP)
    walk(const float* a, const float* b, float* c, int rows, int inner, int cols) {
  __shared__ float sa[EDGE * EDGE];
  __shared__ float sb[EDGE * EDGE];

  const int u = threadIdx.x & 31;
  const int v = threadIdx.x >> 5;
  const long row0 = (long)blockIdx.y * EDGE + v;
  const long col = (long)blockIdx.x * EDGE + u;

  const float* pa = a + row0 * inner + u;
  const float* pb = b + (long)v * cols + col;
  float acc[EACH] = {0, 0, 0, 0};

  for (int left = inner; left > 0; left -= EDGE) {
    for (int q = 0; q < EACH; q++) {
      const int y = v + q * STEP;
      float fa = 0, fb = 0;
      if (u < left && row0 + q * STEP < rows) fa = pa[(long)q * STEP * inner];
      if (y < left && col < cols) fb = pb[(long)q * STEP * cols];
      sa[y * EDGE + u] = fa;
      sb[y * EDGE + u] = fb;
    }
    __syncthreads();

    const float* ra = sa + v * EDGE;
    const float* rb = sb + u;
    for (int i = 0; i < EDGE; i++, ra++, rb += EDGE) {
      const float f = *rb;
      for (int q = 0; q < EACH; q++) acc[q] += ra[q * STEP * EDGE] * f;
    }
    __syncthreads();

    pa += EDGE;
    pb += (long)EDGE * cols;
  }

  if (col >= cols) return;
  for (int q = 0; q < EACH; q++) {
    const long row = row0 + q * STEP;
    if (row < rows) c[row * cols + col] = acc[q];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = (l + EDGE - 1) / EDGE;
  grid.y = (j + EDGE - 1) / EDGE;
  walk<<<grid, EDGE * STEP>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
