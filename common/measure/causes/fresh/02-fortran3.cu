// MATMUL, tiled. Index macros as I know them from Fortran (but row-major here).
#include "check.h"

#define NB 16
#define NT (NB * NB)
#define A(I, J) a[(I) * lda + (J)]
#define B(I, J) b[(I) * lda + (J)]
#define C(I, J) c[(I) * lda + (J)]
#define WA(I, J) wa[(I) * NB + (J)]
#define WB(I, J) wb[(I) * NB + (J)]

__global__ void dgemm_like(const float* a, const float* b, float* c, int lda) {
  __shared__ float wa[NT];
  __shared__ float wb[NT];

  // local row and column of this worker in a block of NT workers
  const int il = threadIdx.x / NB;
  const int jl = threadIdx.x % NB;
  // first row and column of the block of C
  const int i0 = blockIdx.y * NB;
  const int j0 = blockIdx.x * NB;

  float s = 0.0f;

  for (int kk = 0; kk < lda; kk += NB) {
    WA(il, jl) = A(i0 + il, kk + jl);
    WB(il, jl) = B(kk + il, j0 + jl);
    __syncthreads();

    for (int k = 0; k < NB; k++) {
      s = s + WA(il, k) * WB(k, jl);
    }
    __syncthreads();
  }

  C(i0 + il, j0 + jl) = s;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int nblk = width / NB;
  dim3 mesh(nblk, nblk, 1);
  dgemm_like<<<mesh, NT>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
