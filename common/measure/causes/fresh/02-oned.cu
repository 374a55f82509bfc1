// Lab 02. Fortran habits: everything 1-D, counters named i, j, k.
#include "check.h"

#define NB 32

__global__ void matmul_blk(const float* A, const float* B, float* C, int n)
{
  __shared__ float sa[NB * NB];
  __shared__ float sb[NB * NB];

  int t = threadIdx.x;
  int j = t % NB;
  int i = t / NB;
  int nblk = n / NB;
  int ib = blockIdx.x / nblk;   // block row of C
  int jb = blockIdx.x % nblk;   // block column of C

  float s = 0.0f;
  for (int kb = 0; kb < n; kb += NB)
  {
    sa[t] = A[(ib * NB + i) * n + kb + j];
    sb[t] = B[(kb + i) * n + jb * NB + j];
    __syncthreads();
    for (int k = 0; k < NB; k++)
      s = s + sa[i * NB + k] * sb[k * NB + j];
    __syncthreads();
  }
  C[(ib * NB + i) * n + jb * NB + j] = s;
}

void solve(const float* M, const float* N, float* P, int width)
{
  int nblk = width / NB;
  matmul_blk<<<nblk * nblk, NB * NB>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
