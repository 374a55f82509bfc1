// Lab 05, Fortran: tile of 128 x 64, every thread 8 x 4, the sums in one long array.
#include "check.h"

enum { MB = 128, NB = 64, KB = 8, MR = 8, NR = 4, NX = NB / NR, NY = MB / MR, NT = NX * NY };

static __host__ __device__ int nblocks(int n, int nb) { return n / nb + (n % nb ? 1 : 0); }

// rank-one update  acc = acc + x y^T
static __device__ void ger(float* acc, const float* x, const float* y)
{
  for (int p = 0; p < MR; ++p)
    for (int q = 0; q < NR; ++q)
      acc[p * NR + q] += x[p] * y[q];
}

__global__ void dgemm_like(const float* A, const float* B, float* C, int m, int kk, int n)
{
  __shared__ float abuf[KB][MB];
  __shared__ float bbuf[KB][NB];
  const int me = threadIdx.y * NX + threadIdx.x;
  const int i0 = blockIdx.y * MB, j0 = blockIdx.x * NB;
  const int iloc = threadIdx.y * MR;      // first row of mine in the block

  float acc[MR * NR];
  for (int e = 0; e < MR * NR; ++e) acc[e] = 0.0f;

  const int nph = nblocks(kk, KB);
  for (int ph = 0; ph < nph; ++ph) {
    const int k0 = ph * KB;
    // A: 8 threads to a row, 32 rows at a time
    const int ac = me % KB;
    for (int i = me / KB; i < MB; i += NT / KB) {
      float v = 0.0f;
      if (i0 + i < m && k0 + ac < kk) v = A[(size_t)(i0 + i) * kk + k0 + ac];
      abuf[ac][i] = v;
    }
    // B: 64 threads to a row, 4 rows at a time
    const int bc = me % NB;
    for (int k = me / NB; k < KB; k += NT / NB) {
      float v = 0.0f;
      if (k0 + k < kk && j0 + bc < n) v = B[(size_t)(k0 + k) * n + j0 + bc];
      bbuf[k][bc] = v;
    }
    __syncthreads();
    for (int k = 0; k < KB; ++k) {
      float x[MR], y[NR];
      for (int p = 0; p < MR; ++p) x[p] = abuf[k][iloc + p];
      for (int q = 0; q < NR; ++q) y[q] = bbuf[k][threadIdx.x + q * NX];
      ger(acc, x, y);
    }
    __syncthreads();
  }

  for (int p = 0; p < MR; ++p)
    for (int q = 0; q < NR; ++q) {
      const int i = i0 + iloc + p;
      const int j = j0 + threadIdx.x + q * NX;
      if (i < m && j < n) C[(size_t)i * n + j] = acc[p * NR + q];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l)
{
  dim3 threads(NX, NY);
  dim3 blocks(nblocks(l, NB), nblocks(j, MB));
  dgemm_like<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
