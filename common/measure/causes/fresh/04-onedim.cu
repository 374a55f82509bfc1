#include "check.h"

#define TS 16
#define IX(r, c, ld) ((long long)(r) * (ld) + (c))
#define CEIL(a, b) (((a) - 1) / (b) + 1)

/* One-dimensional grid: block number -> (tile row, tile column). gridDim.y may not be large enough. */
__global__ void gemm1d(int m, int n, int kk, const float *A, const float *B, float *C)
{
    __shared__ float As[TS][TS];
    __shared__ float Bs[TS][TS];

    int nTilesX = CEIL(n, TS);
    int bi = blockIdx.x / nTilesX;
    int bj = blockIdx.x % nTilesX;
    int ti = threadIdx.y;
    int tj = threadIdx.x;
    int i = bi * TS + ti;
    int j = bj * TS + tj;

    int row_ok = i < m;
    int col_ok = j < n;
    float cij = 0.0f;

    for (int t = 0; t < CEIL(kk, TS); t++) {
        int ka = t * TS + tj;
        int kb = t * TS + ti;

        As[ti][tj] = 0.0f;
        if (row_ok && ka < kk)
            As[ti][tj] = A[IX(i, ka, kk)];

        Bs[ti][tj] = 0.0f;
        if (kb < kk && col_ok)
            Bs[ti][tj] = B[IX(kb, j, n)];

        __syncthreads();
        for (int q = 0; q < TS; q++)
            cij += As[ti][q] * Bs[q][tj];
        __syncthreads();
    }

    if (row_ok && col_ok)
        C[IX(i, j, n)] = cij;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    unsigned nblocks = (unsigned)CEIL(j, TS) * CEIL(l, TS);
    dim3 threads(TS, TS);
    gemm1d<<<nblocks, threads>>>(j, l, k, M, N, P);
    CHECK(cudaGetLastError());
}
