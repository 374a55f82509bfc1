// Lab 01. I come from Fortran: everything is a flat array and I keep one index per thread.
#include <cstdio>
#include <cstdlib>

// zero-based, row-major (in Fortran it would be the other way round!)
#define IDX(i, j, ld) ((i) * (ld) + (j))

static void stop_on(cudaError_t ierr, const char* where) {
  if (ierr != cudaSuccess) {
    fprintf(stderr, "STOP in %s: %s\n", where, cudaGetErrorString(ierr));
    exit(1);
  }
}

// dot product of row i of A and column j of B
__device__ float dotp(const float* A, const float* B, int i, int j, int n) {
  float s = 0.f;
  int l = 0;
  while (l < n) {
    s = s + A[IDX(i, l, n)] * B[IDX(l, j, n)];
    l = l + 1;
  }
  return s;
}

__global__ void matmul(int n, const float* A, const float* B, float* C) {
  int id = blockDim.x * blockIdx.x + threadIdx.x;  // number of the element, counted row by row
  int i = id / n;
  int j = id - i * n;
  if (i < n) {
    C[IDX(i, j, n)] = dotp(A, B, i, j, n);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int nelem = width * width;
  const size_t nbytes = nelem * sizeof(float);
  const int nthreads = 128;
  int nblocks = nelem / nthreads;
  if (nelem % nthreads != 0) nblocks = nblocks + 1;

  float* dev[3];
  for (int m = 0; m < 3; m++) {
    stop_on(cudaMalloc((void**)&dev[m], nbytes), "allocate");
  }
  stop_on(cudaMemcpy(dev[0], M, nbytes, cudaMemcpyHostToDevice), "copy of M");
  stop_on(cudaMemcpy(dev[1], N, nbytes, cudaMemcpyHostToDevice), "copy of N");

  matmul<<<nblocks, nthreads>>>(width, dev[0], dev[1], dev[2]);
  stop_on(cudaGetLastError(), "launch");
  stop_on(cudaDeviceSynchronize(), "kernel");

  stop_on(cudaMemcpy(P, dev[2], nbytes, cudaMemcpyDeviceToHost), "copy of P");
  for (int m = 0; m < 3; m++) {
    stop_on(cudaFree(dev[m]), "deallocate");
  }
}
