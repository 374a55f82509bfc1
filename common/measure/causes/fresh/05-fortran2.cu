// Lab 05 by a Fortran programmer: everything is a parameter, a do loop or a statement function.
#include "check.h"

#define DO(v, first, last) for (int v = (first); v <= (last); ++v)
#define DO_STEP(v, first, last, step) for (int v = (first); v <= (last); v += (step))

enum : int {
  MB = 64,          // block of C: MB x NB
  NB = 64,
  KB = 16,          // depth
  MT = 8,           // a thread: MT x NT
  NT = 4,
  NTY = MB / MT,    // 8
  NTX = NB / NT,    // 16
  NTHREADS = NTX * NTY
};

__device__ int minimum(int a, int b) { return a < b ? a : b; }

__global__ void dgemm_like(const float* a, const float* b, float* c, int m, int kk, int n) {
  __shared__ float at[KB][MB];  // A transposed
  __shared__ float bt[KB][NB];

  const int me = threadIdx.x;
  const int ix = me % NTX;
  const int iy = me / NTX;
  const int i0 = blockIdx.y * MB;
  const int j0 = blockIdx.x * NB;

  float acc[NT][MT];
  DO(jj, 0, NT - 1) DO(ii, 0, MT - 1) acc[jj][ii] = 0.0f;

  DO_STEP(k0, 0, kk - 1, KB) {
    DO_STEP(q, me, MB * KB - 1, NTHREADS) {
      const int p = q % KB, i = q / KB;
      const bool there = i0 + i < m && k0 + p < kk;
      at[p][i] = there ? a[(size_t)(i0 + i) * kk + (k0 + p)] : 0.0f;
    }
    DO_STEP(q, me, KB * NB - 1, NTHREADS) {
      const int j = q % NB, p = q / NB;
      const bool there = k0 + p < kk && j0 + j < n;
      bt[p][j] = there ? b[(size_t)(k0 + p) * n + (j0 + j)] : 0.0f;
    }
    __syncthreads();

    const int depth = minimum(KB, kk - k0);  // the last slab may be thin
    DO(p, 0, depth - 1) {
      float u[MT];
#pragma unroll
      DO(ii, 0, MT - 1) u[ii] = at[p][iy * MT + ii];
#pragma unroll
      DO(jj, 0, NT - 1) {
        const float v = bt[p][ix + jj * NTX];
#pragma unroll
        DO(ii, 0, MT - 1) acc[jj][ii] += u[ii] * v;
      }
    }
    __syncthreads();
  }

#pragma unroll
  DO(ii, 0, MT - 1) {
    const int i = i0 + iy * MT + ii;
    if (i < m) {
#pragma unroll
      DO(jj, 0, NT - 1) {
        const int j = j0 + ix + jj * NTX;
        if (j < n) c[(size_t)i * n + j] = acc[jj][ii];
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const unsigned across = (l - 1) / NB + 1;
  const unsigned down = (j - 1) / MB + 1;
  dgemm_like<<<dim3(across, down), NTHREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
