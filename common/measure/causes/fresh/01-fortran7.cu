// Lab 1. I come from Fortran, so everything counts with one running index here.
#include <cstdio>
#include <cstdlib>

#include "check.h"

static const int NTHR = 128;

__device__ float dotprod(const float* a, int inca, const float* b, int incb, int n) {
  float acc = 0.0f;
  int ia = 0, ib = 0;
  for (int i = 1; i <= n; i++) {
    acc += a[ia] * b[ib];
    ia += inca;
    ib += incb;
  }
  return acc;
}

// c = a * b, each thread does element idx, idx + stride, ...
__global__ void matmult(const float* a, const float* b, float* c, int n) {
  int ntot = n * n;
  int stride = gridDim.x * blockDim.x;
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < ntot; idx += stride) {
    int irow = idx / n;
    int icol = idx - irow * n;
    c[idx] = dotprod(a + irow * n, 1, b + icol, n, n);
  }
}

static void stop_if(cudaError_t ierr, const char* where) {
  if (ierr == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(ierr));
  exit(1);
}

void solve(const float* M, const float* N, float* P, int width) {
  int ntot = width * width;
  size_t nbytes = ntot * sizeof(float);

  // one slab for all three matrices
  float* work = NULL;
  stop_if(cudaMalloc((void**)&work, 3 * nbytes), "malloc");
  float* a = work;
  float* b = work + ntot;
  float* c = work + 2 * ntot;

  cudaStream_t queue;
  stop_if(cudaStreamCreate(&queue), "stream");
  stop_if(cudaMemcpyAsync(a, M, nbytes, cudaMemcpyHostToDevice, queue), "copy a");
  stop_if(cudaMemcpyAsync(b, N, nbytes, cudaMemcpyHostToDevice, queue), "copy b");

  int nblk = ntot / NTHR;
  if (nblk * NTHR != ntot) nblk = nblk + 1;
  matmult<<<nblk, NTHR, 0, queue>>>(a, b, c, width);
  stop_if(cudaGetLastError(), "launch");

  stop_if(cudaMemcpyAsync(P, c, nbytes, cudaMemcpyDeviceToHost, queue), "copy c");
  stop_if(cudaStreamSynchronize(queue), "wait");
  stop_if(cudaStreamDestroy(queue), "stream end");
  stop_if(cudaFree(work), "free");
}
