// Lab 01. Written by somebody who has done Fortran for twenty years.
// I use one index for the whole matrix and take it apart with / and mod.
#include "check.h"

#define NTHR 192

// c(i,j) = sum a(i,kk) * b(kk,j); everything row by row, not column by column!
__global__ void matmlt(const float *a, const float *b, float *c, int n) {
  int idx = blockIdx.x * NTHR + threadIdx.x;
  int ntot = n * n;
  if (idx < ntot) {
    int i = idx / n;
    int j = idx % n;
    int ia = i * n;
    int ib = j;
    float acc = 0.0f;
    int left = n;
    while (left > 0) {
      acc = acc + a[ia] * b[ib];
      ia = ia + 1;
      ib = ib + n;
      left = left - 1;
    }
    c[idx] = acc;
  }
}

void solve(const float *M, const float *N, float *P, int width) {
  float *work, *a, *b, *c;
  size_t n2 = (size_t)width * width;

  // one big work array, cut in three as with a COMMON block
  CHECK(cudaMalloc((void **)&work, 3 * n2 * sizeof(float)));
  a = work;
  b = a + n2;
  c = b + n2;

  CHECK(cudaMemcpy(a, M, n2 * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, N, n2 * sizeof(float), cudaMemcpyHostToDevice));

  int nblk = (int)(n2 / NTHR);
  if (n2 % NTHR != 0) nblk = nblk + 1;
  matmlt<<<nblk, NTHR>>>(a, b, c, width);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpy(P, c, n2 * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(work));
}
