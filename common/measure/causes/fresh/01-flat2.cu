// one long index per thread, like in my Fortran days
#include <cstdio>
#include <cstdlib>
#include "check.h"

#define NTHREADS 256

__device__ float dotprod(const float* zeile, const float* spalte, int n) {
  float s = 0.0f;
  int left = n;
  while (left-- > 0) {
    s += *zeile * *spalte;
    zeile += 1;
    spalte += n;
  }
  return s;
}

__global__ void mmul(const float* A, const float* B, float* C, int n) {
  const int total = n * n;
  const int id = blockDim.x * blockIdx.x + threadIdx.x;
  if (id < total) {
    const int ir = id / n;
    const int ic = id - ir * n;
    C[id] = dotprod(A + ir * n, B + ic, n);
  }
}

static void die_if(cudaError_t err, const char* where) {
  if (err != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(err));
    exit(1);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int total = width * width;
  const size_t nbytes = total * sizeof(float);
  float* dev[3];
  for (int i = 0; i < 3; i++) die_if(cudaMalloc((void**)&dev[i], nbytes), "malloc");
  die_if(cudaMemcpy(dev[0], M, nbytes, cudaMemcpyHostToDevice), "copy M");
  die_if(cudaMemcpy(dev[1], N, nbytes, cudaMemcpyHostToDevice), "copy N");

  int nblocks = total / NTHREADS;
  if (total % NTHREADS != 0) nblocks++;
  mmul<<<nblocks, NTHREADS>>>(dev[0], dev[1], dev[2], width);
  die_if(cudaGetLastError(), "launch");

  die_if(cudaMemcpy(P, dev[2], nbytes, cudaMemcpyDeviceToHost), "copy P");
  for (int i = 0; i < 3; i++) die_if(cudaFree(dev[i]), "free");
}
