// Lab 02. My first language was Fortran; arrays are flat and indices are computed.
#include "check.h"

#define NB 16
#define TILE(i, j) ((i) * NB + (j))

__global__ void dgemm_block(const float* a, const float* b, float* c, int lda) {
  __shared__ float work[2 * NB * NB];
  float* wa = work;
  float* wb = work + NB * NB;

  const int jj = threadIdx.x;
  const int ii = threadIdx.y;

  // first tile of a: this block's row of tiles, first tile of b: its column of tiles
  int ioff = blockIdx.y * NB * lda;
  int joff = blockIdx.x * NB;
  int kk = 0;
  float s = 0.0f;

  do {
    wa[TILE(ii, jj)] = a[ioff + ii * lda + kk + jj];
    wb[TILE(ii, jj)] = b[(kk + ii) * lda + joff + jj];
    __syncthreads();

    float t = 0.0f;
    for (int l = 0; l <= NB - 1; l++) {
      t = t + wa[TILE(ii, l)] * wb[TILE(l, jj)];
    }
    s = s + t;
    __syncthreads();

    kk = kk + NB;
  } while (kk < lda);

  c[ioff + ii * lda + joff + jj] = s;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int nblk = width / NB;
  dim3 thr, blk;
  thr.x = NB;
  thr.y = NB;
  blk.x = nblk;
  blk.y = nblk;
  dgemm_block<<<blk, thr>>>(M, N, P, width);
  CHECK(cudaPeekAtLastError());
  CHECK(cudaDeviceSynchronize());
}
