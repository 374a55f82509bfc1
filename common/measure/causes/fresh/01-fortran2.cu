// Lab 01. One long index per thread, taken apart into line and column.
// (My Fortran version counted from 1 and column by column; this one does not.)
#include <cstdio>
#include <cstdlib>

#include "check.h"

__device__ void split_index(int idx, int n, int* lin, int* kol) {
  *lin = idx / n;
  *kol = idx - *lin * n;
}

__global__ void matmul_flat(const float* a, const float* b, float* c, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int total = n * n;
  if (idx < total) {
    int lin, kol;
    split_index(idx, n, &lin, &kol);
    int ia = lin * n;  // walks along the line of a
    int ib = kol;      // walks down the column of b
    float s = 0.0f;
    int left = n;
    while (left > 0) {
      s = s + a[ia] * b[ib];
      ia = ia + 1;
      ib = ib + n;
      left = left - 1;
    }
    c[idx] = s;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int nthr = 256;
  int total = width * width;
  int nblk = total / nthr;
  if (total % nthr != 0) nblk = nblk + 1;

  float *a = NULL, *b = NULL, *c = NULL;
  cudaError_t ierr;
  size_t nbytes = (size_t)total * sizeof(float);

  ierr = cudaMalloc((void**)&a, nbytes);
  if (ierr != cudaSuccess) goto fail;
  ierr = cudaMalloc((void**)&b, nbytes);
  if (ierr != cudaSuccess) goto fail;
  ierr = cudaMalloc((void**)&c, nbytes);
  if (ierr != cudaSuccess) goto fail;

  ierr = cudaMemcpy(a, M, nbytes, cudaMemcpyHostToDevice);
  if (ierr != cudaSuccess) goto fail;
  ierr = cudaMemcpy(b, N, nbytes, cudaMemcpyHostToDevice);
  if (ierr != cudaSuccess) goto fail;

  matmul_flat<<<nblk, nthr>>>(a, b, c, width);
  ierr = cudaGetLastError();
  if (ierr != cudaSuccess) goto fail;

  ierr = cudaMemcpy(P, c, nbytes, cudaMemcpyDeviceToHost);
  if (ierr != cudaSuccess) goto fail;

  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  return;

fail:
  fprintf(stderr, "matmul: %s\n", cudaGetErrorString(ierr));
  exit(1);
}
