// C = A * B, tiles of NB x NB.  (Translated from my Fortran version, hence the names.)
#include "check.h"

#define NB 32
#define AT(X, LD, I, J) X[(I) * (LD) + (J)]

__global__ void gemm_tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float As[NB * NB];
  __shared__ float Bs[NB * NB];

  const int jj = threadIdx.x, ii = threadIdx.y;
  const int i0 = blockIdx.y * NB, j0 = blockIdx.x * NB;
  float cij = 0.0f;

  for (int k0 = 0; k0 < n; k0 += NB) {
    AT(As, NB, ii, jj) = AT(A, n, i0 + ii, k0 + jj);
    AT(Bs, NB, ii, jj) = AT(B, n, k0 + ii, j0 + jj);
    __syncthreads();

    for (int kk = 0; kk < NB; kk += 2) {
      cij += AT(As, NB, ii, kk) * AT(Bs, NB, kk, jj);
      cij += AT(As, NB, ii, kk + 1) * AT(Bs, NB, kk + 1, jj);
    }
    __syncthreads();
  }
  AT(C, n, i0 + ii, j0 + jj) = cij;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 nthreads, nblocks;
  nthreads.x = NB;
  nthreads.y = NB;
  nblocks.x = width / NB;
  nblocks.y = width / NB;
  gemm_tiled<<<nblocks, nthreads>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
