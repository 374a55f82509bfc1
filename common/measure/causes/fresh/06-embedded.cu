/* Lab 06. Flat buffers with an explicit pitch, addresses computed once, then stepped. */
#include <stdint.h>
#include "check.h"

enum {
  TILE = 64,       /* side of the output tile */
  SLICE = 16,      /* depth of one phase */
  PITCH = TILE + 6 /* words per line of the transposed buffer: 6 * i + r hits all banks */
};

__device__ static void stage_m(float *dst, const float *src, int32_t rows_left, int32_t cols_left,
                               int32_t ld, uint16_t id)
{
  const uint16_t i = id & (SLICE - 1);
  uint16_t r = id / SLICE;
  const float *p = src + (size_t)r * ld + i;
  float *q = dst + i * PITCH + r;
  for (; r < TILE; r += 16) {
    *q = (r < rows_left && i < cols_left) ? *p : 0.0f;
    p += (size_t)16 * ld;
    q += 16;
  }
}

__device__ static void stage_n(float *dst, const float *src, int32_t rows_left, int32_t cols_left,
                               int32_t ld, uint16_t id)
{
  const uint16_t c = id & (TILE - 1);
  uint16_t i = id / TILE;
  const float *p = src + (size_t)i * ld + c;
  float *q = dst + id;
  for (; i < SLICE; i += 4) {
    *q = (i < rows_left && c < cols_left) ? *p : 0.0f;
    p += (size_t)4 * ld;
    q += 4 * TILE;
  }
}

__global__ void mac_kernel(const float *M, const float *N, float *P, int j, int k, int l)
{
  __shared__ float buf_m[SLICE * PITCH];
  __shared__ float buf_n[SLICE * TILE];
  const uint16_t id = threadIdx.x;
  const uint16_t cx = id % 16, cy = id / 16;
  const int32_t y0 = blockIdx.y * TILE, x0 = blockIdx.x * TILE;
  const float *src_m = M + (size_t)y0 * k;
  const float *src_n = N + x0;
  float acc[4][4] = {{0}};

  for (int32_t todo = k; todo > 0; todo -= SLICE) {
    stage_m(buf_m, src_m, j - y0, todo, k, id);
    stage_n(buf_n, src_n, todo, l - x0, l, id);
    src_m += SLICE;
    src_n += (size_t)SLICE * l;
    __syncthreads();

    const float *pm = buf_m + 4 * cy;
    const float *pn = buf_n + cx;
    for (int s = 0; s < SLICE; s++, pm += PITCH, pn += TILE) {
      float m[4], n[4];
      for (int r = 0; r < 4; r++) m[r] = pm[r];
      for (int c = 0; c < 4; c++) n[c] = pn[16 * c];
      for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) acc[r][c] += m[r] * n[c];
    }
    __syncthreads();
  }

  for (int r = 0; r < 4; r++) {
    const int32_t y = y0 + 4 * cy + r;
    for (int c = 0; c < 4; c++) {
      const int32_t x = x0 + cx + 16 * c;
      if (y < j && x < l) P[(size_t)y * l + x] = acc[r][c];
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
  const unsigned gx = (l - 1) / TILE + 1;
  const unsigned gy = (j - 1) / TILE + 1;
  mac_kernel<<<dim3(gx, gy, 1), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
