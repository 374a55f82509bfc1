// LAB 06. Written the way I write Fortran: names of six letters, all declared on top, leading
// dimensions passed along (LDA, LDB). The tile of A has the padding 6.
#include "check.h"

const int NB = 64, KB = 16, NR = 4;
const int NTX = 16, NTY = 16, NTHR = NTX * NTY;
const int LDA = NB + 6;  // leading dimension of the tile of A
const int LDB = NB;      // leading dimension of the tile of B

// loads one block of A, transposed
__device__ void loada(const float* a, int irow, int icol, int nrow, int ncol, float* ta, int me) {
  int ii, jj, l;
  for (l = me; l <= NB * KB - 1; l += NTHR) {
    ii = l / KB;
    jj = l - ii * KB;
    ta[jj * LDA + ii] = 0.0f;
    if (irow + ii < nrow && icol + jj < ncol)
      ta[jj * LDA + ii] = a[(size_t)(irow + ii) * ncol + (icol + jj)];
  }
}

// loads one block of B as it is
__device__ void loadb(const float* b, int irow, int icol, int nrow, int ncol, float* tb, int me) {
  int ii, jj, l;
  for (l = me; l <= NB * KB - 1; l += NTHR) {
    ii = l / NB;
    jj = l - ii * NB;
    tb[ii * LDB + jj] = 0.0f;
    if (irow + ii < nrow && icol + jj < ncol)
      tb[ii * LDB + jj] = b[(size_t)(irow + ii) * ncol + (icol + jj)];
  }
}

__global__ void sgemmk(const float* a, const float* b, float* c, int mm, int kk, int nn) {
  __shared__ float ta[KB * LDA], tb[KB * LDB];
  float acc[NR][NR], ra[NR], rb[NR];
  int ith, jth, me, irow, icol, ik, ip, iq, lk;

  jth = threadIdx.x;
  ith = threadIdx.y;
  me = ith * NTX + jth;
  irow = blockIdx.y * NB;
  icol = blockIdx.x * NB;

  for (ip = 0; ip <= NR - 1; ip++)
    for (iq = 0; iq <= NR - 1; iq++) acc[ip][iq] = 0.0f;

  for (ik = 0; ik <= kk - 1; ik += KB) {
    loada(a, irow, ik, mm, kk, ta, me);
    loadb(b, ik, icol, kk, nn, tb, me);
    __syncthreads();
    for (lk = 0; lk <= KB - 1; lk++) {
      for (ip = 0; ip <= NR - 1; ip++) ra[ip] = ta[lk * LDA + ith * NR + ip];
      for (iq = 0; iq <= NR - 1; iq++) rb[iq] = tb[lk * LDB + jth + iq * NTX];
      for (ip = 0; ip <= NR - 1; ip++)
        for (iq = 0; iq <= NR - 1; iq++) acc[ip][iq] = acc[ip][iq] + ra[ip] * rb[iq];
    }
    __syncthreads();
  }

  for (ip = 0; ip <= NR - 1; ip++) {
    for (iq = 0; iq <= NR - 1; iq++) {
      int i = irow + ith * NR + ip;
      int j = icol + jth + iq * NTX;
      if (i <= mm - 1 && j <= nn - 1) c[(size_t)i * nn + j] = acc[ip][iq];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int nbx, nby;
  nbx = (l - 1) / NB + 1;
  nby = (j - 1) / NB + 1;
  dim3 grid(nbx, nby), block(NTX, NTY);
  sgemmk<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
