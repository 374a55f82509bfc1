// tiled product. I am used to Fortran, so everything here counts from 1.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define NB 16
#define A(i, j) a[((i) - 1) * n + ((j) - 1)]
#define B(i, j) b[((i) - 1) * n + ((j) - 1)]
#define C(i, j) c[((i) - 1) * n + ((j) - 1)]
#define AT(i, j) at[((i) - 1) * NB + ((j) - 1)]
#define BT(i, j) bt[((i) - 1) * NB + ((j) - 1)]

__global__ void matmul_tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float at[NB * NB];
  __shared__ float bt[NB * NB];
  int il = threadIdx.x / NB + 1;
  int jl = threadIdx.x % NB + 1;
  int i = blockIdx.y * NB + il;
  int j = blockIdx.x * NB + jl;
  float s = 0.0f;
  for (int kk = 1; kk <= n; kk = kk + NB) {
    AT(il, jl) = A(i, kk + jl - 1);
    BT(il, jl) = B(kk + il - 1, j);
    __syncthreads();
    for (int k = 1; k <= NB; k = k + 1)
      s = s + AT(il, k) * BT(k, jl);
    __syncthreads();
  }
  C(i, j) = s;
}

void solve(const float *M, const float *N, float *P, int width) {
  int nblk = width / NB;
  dim3 grid(nblk, nblk, 1);
  matmul_tiled<<<grid, NB * NB>>>(M, N, P, width);
  cudaError_t ierr = cudaGetLastError();
  if (ierr != cudaSuccess) {
    std::printf("matmul_tiled: error %d\n", (int)ierr);
    std::exit(1);
  }
}
