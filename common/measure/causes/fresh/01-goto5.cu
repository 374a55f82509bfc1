/* Lab 01 - plain C, the way we do it in firmware: one pool, one exit. */
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define BX 32
#define BY 8

struct job {
  const float *m;
  const float *n;
  float *p;
  int32_t w;
};

__device__ static float dot(const float *m_row, const float *n_col, int32_t len, int32_t pitch)
{
  float v = 0.0f;
  int32_t left = len;
  while (left--) {
    v += (*m_row++) * (*n_col);
    n_col += pitch;
  }
  return v;
}

__global__ void mm(struct job q)
{
  int32_t x = (int32_t)(threadIdx.x + BX * blockIdx.x);
  int32_t y = (int32_t)(threadIdx.y + BY * blockIdx.y);
  if (x < q.w && y < q.w)
    q.p[y * q.w + x] = dot(&q.m[y * q.w], &q.n[x], q.w, q.w);
}

void solve(const float *M, const float *N, float *P, int width)
{
  const size_t cnt = (size_t)width * (size_t)width;
  const size_t len = cnt * sizeof(float);
  float *pool = NULL;
  struct job q;
  dim3 threads(BX, BY);
  dim3 blocks((width + BX - 1) / BX, (width + BY - 1) / BY);
  cudaError_t rc;

  rc = cudaMalloc((void **)&pool, 3 * len);
  if (rc != cudaSuccess) goto fail;

  rc = cudaMemcpy(pool, M, len, cudaMemcpyHostToDevice);
  if (rc != cudaSuccess) goto fail;
  rc = cudaMemcpy(pool + cnt, N, len, cudaMemcpyHostToDevice);
  if (rc != cudaSuccess) goto fail;

  q.m = pool;
  q.n = pool + cnt;
  q.p = pool + 2 * cnt;
  q.w = width;
  mm<<<blocks, threads>>>(q);
  rc = cudaGetLastError();
  if (rc != cudaSuccess) goto fail;

  rc = cudaMemcpy(P, q.p, len, cudaMemcpyDeviceToHost);
  if (rc != cudaSuccess) goto fail;

  rc = cudaFree(pool);
  if (rc == cudaSuccess) return;
fail:
  fprintf(stderr, "mm: cuda error %d (%s)\n", (int)rc, cudaGetErrorString(rc));
  exit(1);
}
