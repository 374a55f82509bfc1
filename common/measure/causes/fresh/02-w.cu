// W. Oberhuber, exercise 2.  (I come from Fortran: index macros, one work array, 1-D blocks.)
#include <cstdio>
#include <cstdlib>

#include "check.h"

#define NB 16
#define NTHR (NB * NB)
#define A(i, j) a[(i) * lda + (j)]
#define B(i, j) b[(i) * lda + (j)]
#define C(i, j) c[(i) * lda + (j)]
#define WA(i, j) work[(i) * NB + (j)]
#define WB(i, j) work[NTHR + (i) * NB + (j)]

__global__ void sgemm_blk(int nblk, const float *a, const float *b, float *c, int lda) {
  extern __shared__ float work[];
  int me = threadIdx.x;
  int ii = me / NB;
  int jj = me % NB;
  int ib = blockIdx.x / nblk;
  int jb = blockIdx.x % nblk;
  int i = ib * NB + ii;
  int j = jb * NB + jj;
  float t = 0.0f;
  int kb = 0;
  do {
    WA(ii, jj) = A(i, kb * NB + jj);
    WB(ii, jj) = B(kb * NB + ii, j);
    __syncthreads();
    for (int k = 0; k < NB; k++) t = t + WA(ii, k) * WB(k, jj);
    __syncthreads();
    kb = kb + 1;
  } while (kb < nblk);
  C(i, j) = t;
}

static void stop_if(cudaError_t ierr, const char *routine) {
  if (ierr == cudaSuccess) return;
  printf("%s: ierr = %d\n", routine, (int)ierr);
  exit(1);
}

void solve(const float *M, const float *N, float *P, int width) {
  int nblk = width / NB;
  size_t lwork = 2 * NTHR * sizeof(float);
  sgemm_blk<<<nblk * nblk, NTHR, lwork>>>(nblk, M, N, P, width);
  stop_if(cudaGetLastError(), "sgemm_blk");
}
