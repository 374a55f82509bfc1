// CALL MATMUL, as a Fortran programmer would write it in CUDA
#include "check.h"

const int NB = 16;  // blocking factor

__global__ void dmatmul(const float *A, const float *B, float *C, int n) {
  __shared__ float asub[NB * NB];
  __shared__ float bsub[NB * NB];

  int li = threadIdx.y, lj = threadIdx.x;
  int i = blockIdx.y * NB + li;
  int j = blockIdx.x * NB + lj;
  int mine = li * NB + lj;
  int nblk = (n - 1) / NB + 1;
  bool rowok = i < n, colok = j < n;
  float cij = 0.0f;

  for (int kb = 1; kb <= nblk; kb++) {
    int k0 = (kb - 1) * NB;

    asub[mine] = 0.0f;
    bsub[mine] = 0.0f;
    if (rowok && k0 + lj < n) asub[mine] = A[i * n + k0 + lj];
    if (colok && k0 + li < n) bsub[mine] = B[(k0 + li) * n + j];
    __syncthreads();

    int klen = min(NB, n - k0);  // the last block is shorter
    for (int kk = 0; kk < klen; kk++) {
      cij = cij + asub[li * NB + kk] * bsub[kk * NB + lj];
    }
    __syncthreads();
  }

  if (!rowok || !colok) return;
  C[i * n + j] = cij;
}

void solve(const float *M, const float *N, float *P, int width) {
  dim3 threads, blocks;
  threads.x = NB;
  threads.y = NB;
  blocks.x = width / NB + (width % NB > 0 ? 1 : 0);
  blocks.y = blocks.x;
  dmatmul<<<blocks, threads>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
