// Lab 02, by someone who thinks in DO loops. 32 x 32 tiles, each thread does four rows of a tile.
#include "check.h"

#define NB 32  // order of a tile
#define NR 8   // rows of threads
#define NQ (NB / NR)

struct work {
  float atile[NB][NB];
  float btile[NB][NB];
};

__device__ void fetch(float dst[NB][NB], const float* src, int lda, int il, int jl) {
  for (int q = 0; q < NQ; q++) dst[il + q * NR][jl] = src[(il + q * NR) * lda + jl];
}

__global__ void mxm(const float* a, const float* b, float* c, int n) {
  __shared__ work w;
  int jl = threadIdx.x;
  int il = threadIdx.y;
  int i0 = blockIdx.y * NB;
  int j0 = blockIdx.x * NB;
  float s[NQ];
  for (int q = 0; q < NQ; q++) s[q] = 0.0f;

  for (int k0 = 0; k0 < n; k0 += NB) {
    fetch(w.atile, a + i0 * n + k0, n, il, jl);
    fetch(w.btile, b + k0 * n + j0, n, il, jl);
    __syncthreads();
    for (int kk = 0; kk < NB; kk++) {
      float bk = w.btile[kk][jl];
      for (int q = 0; q < NQ; q++) s[q] = s[q] + w.atile[il + q * NR][kk] * bk;
    }
    __syncthreads();
  }

  for (int q = 0; q < NQ; q++) {
    int i = i0 + il + q * NR;
    c[i * n + j0 + jl] = s[q];
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  int nblk = width / NB;
  dim3 dimb(NB, NR);
  dim3 dimg(nblk, nblk);
  mxm<<<dimg, dimb>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
