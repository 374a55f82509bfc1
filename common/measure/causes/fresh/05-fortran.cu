// Lab 05, after twenty years of Fortran: loops over names, sixteen scalars spelled out.
#include "check.h"

#define NB 64   /* block of P: NB by NB */
#define KB 16   /* depth */
#define NT 256  /* threads */
#define Q 16    /* distance between the four rows, or columns, of a thread */
#define MT(r, i) mt[(r) * KB + (i)]
#define NTILE(i, c) nt[(i) * NB + (c)]

__global__ void rgemm(const float* m, const float* n, float* p, int j, int k, int l) {
  __shared__ float mt[NB * KB];
  __shared__ float nt[KB * NB];
  const int id = threadIdx.x;
  const int jc = id % Q, jr = id / Q;
  const int row0 = blockIdx.y * NB, col0 = blockIdx.x * NB;

  float s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
  float s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;

  for (int k0 = 0; k0 < k; k0 += KB) {
    for (int step = 0; step < NB * KB / NT; ++step) {
      const int rm = id / KB + step * (NT / KB), im = id % KB;
      const int in = id / NB + step * (NT / NB), cn = id % NB;
      float vm = 0, vn = 0;
      if (row0 + rm < j && k0 + im < k) vm = m[(size_t)(row0 + rm) * k + k0 + im];
      if (k0 + in < k && col0 + cn < l) vn = n[(size_t)(k0 + in) * l + col0 + cn];
      MT(rm, im) = vm;
      NTILE(in, cn) = vn;
    }
    __syncthreads();
    for (int i = 0; i < KB; ++i) {
      const float a0 = MT(jr, i), a1 = MT(jr + Q, i), a2 = MT(jr + 2 * Q, i), a3 = MT(jr + 3 * Q, i);
      const float b0 = NTILE(i, jc), b1 = NTILE(i, jc + Q);
      const float b2 = NTILE(i, jc + 2 * Q), b3 = NTILE(i, jc + 3 * Q);
      s00 += a0 * b0; s01 += a0 * b1; s02 += a0 * b2; s03 += a0 * b3;
      s10 += a1 * b0; s11 += a1 * b1; s12 += a1 * b2; s13 += a1 * b3;
      s20 += a2 * b0; s21 += a2 * b1; s22 += a2 * b2; s23 += a2 * b3;
      s30 += a3 * b0; s31 += a3 * b1; s32 += a3 * b2; s33 += a3 * b3;
    }
    __syncthreads();
  }

#define PUT(r, c, s)                                                       \
  if (row0 + jr + (r) * Q < j && col0 + jc + (c) * Q < l)                  \
    p[(size_t)(row0 + jr + (r) * Q) * l + col0 + jc + (c) * Q] = s
  PUT(0, 0, s00); PUT(0, 1, s01); PUT(0, 2, s02); PUT(0, 3, s03);
  PUT(1, 0, s10); PUT(1, 1, s11); PUT(1, 2, s12); PUT(1, 3, s13);
  PUT(2, 0, s20); PUT(2, 1, s21); PUT(2, 2, s22); PUT(2, 3, s23);
  PUT(3, 0, s30); PUT(3, 1, s31); PUT(3, 2, s32); PUT(3, 3, s33);
#undef PUT
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 nblocks(l / NB + (l % NB != 0), j / NB + (j % NB != 0));
  rgemm<<<nblocks, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
