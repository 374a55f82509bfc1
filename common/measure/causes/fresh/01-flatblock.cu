// Lab 01. I come from R: everything is one long vector, so the grid is one-dimensional, too.
#include <cstdio>

#include "check.h"

static const int BLK = 256;
static const int MAX_BLOCKS = 120;

// row of x times column of y; both are vectors of length n * n
__device__ float dot_rc(const float* x, const float* y, int r, int c, int n) {
  float acc = 0;
  int ix = r * n;
  int iy = c;
  while (ix < (r + 1) * n) {
    acc += x[ix] * y[iy];
    ix += 1;
    iy += n;
  }
  return acc;
}

__global__ void matprod(const float* x, const float* y, float* z, int n) {
  const int len = n * n;
  const int step = blockDim.x * gridDim.x;
  for (int pos = blockIdx.x * blockDim.x + threadIdx.x; pos < len; pos += step) {
    const int r = pos / n;
    const int c = pos % n;
    z[pos] = dot_rc(x, y, r, c, n);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  float *gx = NULL, *gy = NULL, *gz = NULL;
  const int len = width * width;
  const size_t nb = (size_t)len * sizeof(float);
  int nblk = (len - 1) / BLK + 1;
  cudaError_t rc;

  if ((rc = cudaMalloc((void**)&gx, nb)) != cudaSuccess) goto fin;
  if ((rc = cudaMalloc((void**)&gy, nb)) != cudaSuccess) goto fin;
  if ((rc = cudaMalloc((void**)&gz, nb)) != cudaSuccess) goto fin;
  if ((rc = cudaMemcpy(gx, M, nb, cudaMemcpyHostToDevice)) != cudaSuccess) goto fin;
  if ((rc = cudaMemcpy(gy, N, nb, cudaMemcpyHostToDevice)) != cudaSuccess) goto fin;

  if (nblk > MAX_BLOCKS) nblk = MAX_BLOCKS;
  matprod<<<nblk, BLK>>>(gx, gy, gz, width);
  if ((rc = cudaGetLastError()) != cudaSuccess) goto fin;
  rc = cudaMemcpy(P, gz, nb, cudaMemcpyDeviceToHost);

fin:
  if (rc != cudaSuccess) fprintf(stderr, "matprod: %s\n", cudaGetErrorString(rc));
  cudaFree(gx);
  cudaFree(gy);
  cudaFree(gz);
}
