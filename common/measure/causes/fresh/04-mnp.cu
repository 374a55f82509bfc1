// Lab 04. In Matlab I write C = A*B with A m-by-n and B n-by-p.
#include "check.h"

typedef long long i64;

#define TW 16
#define NTHREADS (TW * TW)
#define CEILDIV(a, b) (((a) - 1) / (b) + 1)

__global__ void mtimes(const float* A, const float* B, float* C, int m, int n, int p) {
  __shared__ float At[TW][TW];
  __shared__ float Bt[TW][TW];

  const int jj = threadIdx.x & (TW - 1);
  const int ii = threadIdx.x >> 4;
  const int i = blockIdx.y * TW + ii;
  const int j = blockIdx.x * TW + jj;

  const float* a = A + (i64)i * n + jj;   // moves right by TW
  const float* b = B + (i64)ii * p + j;   // moves down by TW rows
  const i64 bstep = (i64)TW * p;

  float c = 0;
  for (int left = n; left > 0; left -= TW) {
    At[ii][jj] = 0;
    Bt[ii][jj] = 0;
    if (i < m && jj < left) At[ii][jj] = *a;
    if (j < p && ii < left) Bt[ii][jj] = *b;
    a += TW;
    b += bstep;
    __syncthreads();
    for (int t = 0; t < TW; t++) c += At[ii][t] * Bt[t][jj];
    __syncthreads();
  }

  if (i >= m || j >= p) return;
  C[(i64)i * p + j] = c;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int m = j, n = k, p = l;
  dim3 nblocks;
  nblocks.x = CEILDIV(p, TW);
  nblocks.y = CEILDIV(m, TW);
  mtimes<<<nblocks, NTHREADS>>>(M, N, P, m, n, p);
  CHECK(cudaGetLastError());
}
