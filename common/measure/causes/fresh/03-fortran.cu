// LAB 03   - translated from my Fortran version, hence the 1-based counters
#include "check.h"

#define NB 16
#define A_(I, J) a[((I)-1) * n + ((J)-1)]
#define B_(I, J) b[((I)-1) * n + ((J)-1)]
#define C_(I, J) c[((I)-1) * n + ((J)-1)]

__global__ void dgemm(const float *a, const float *b, float *c, int n)
{
  __shared__ float ta[NB * NB], tb[NB * NB];
  int me = threadIdx.x;              // 0 .. NB*NB-1
  int li = me / NB, lj = me % NB;
  int i = blockIdx.y * NB + li + 1;  // 1 .. n
  int j = blockIdx.x * NB + lj + 1;
  float temp = 0.0f;

  for (int kk = 1; kk <= n; kk += NB) {
    int ka = kk + lj;
    int kb = kk + li;
    ta[me] = 0.0f;
    tb[me] = 0.0f;
    if (i <= n && ka <= n) ta[me] = A_(i, ka);
    if (kb <= n && j <= n) tb[me] = B_(kb, j);
    __syncthreads();

    int last = min(NB, n - kk + 1);  // columns of this strip that exist
    for (int k = 0; k < last; k++)
      temp = temp + ta[li * NB + k] * tb[k * NB + lj];
    __syncthreads();
  }
  if (i <= n && j <= n) C_(i, j) = temp;
}

void solve(const float *M, const float *N, float *P, int width)
{
  int nblk = (width - 1) / NB + 1;
  dim3 grid;
  grid.x = nblk;
  grid.y = nblk;
  int nthr = NB * NB;
  dgemm<<<grid, nthr>>>(M, N, P, width);
  CHECK(cudaPeekAtLastError());
}
