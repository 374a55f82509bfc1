// Lab 02. I come from Fortran: indices begin with 1 and arrays have macros.
#include "check.h"

#define NB 16

#define A(i, j) a[((i) - 1) * n + (j) - 1]
#define B(i, j) b[((i) - 1) * n + (j) - 1]
#define C(i, j) c[((i) - 1) * n + (j) - 1]
#define AS(i, j) work[((i) - 1) * NB + (j) - 1]
#define BS(i, j) work[NB * NB + ((i) - 1) * NB + (j) - 1]

__global__ void sgemm_blk(const float* a, const float* b, float* c, int n) {
  __shared__ float work[2 * NB * NB];  // AS first, then BS

  // one-dimensional block of NB*NB threads
  int li = threadIdx.x / NB + 1;
  int lj = threadIdx.x % NB + 1;
  int i = blockIdx.y * NB + li;
  int j = blockIdx.x * NB + lj;

  float s = 0.0f;
  for (int kk = 1; kk <= n; kk += NB) {
    AS(li, lj) = A(i, kk + lj - 1);
    BS(li, lj) = B(kk + li - 1, j);
    __syncthreads();
    for (int k = 1; k <= NB; k++) {
      s = s + AS(li, k) * BS(k, lj);
    }
    __syncthreads();
  }
  C(i, j) = s;
}

void solve(const float* M, const float* N, float* P, int width) {
  int nblk = width / NB;
  dim3 grid(nblk, nblk, 1);
  sgemm_blk<<<grid, NB * NB>>>(M, N, P, width);
  cudaError_t ierr = cudaGetLastError();
  CHECK(ierr);
}
