/* Lab 04, old C: macros, one-dimensional block of 256, stream of its own. */
#include "check.h"

#define B 16
#define AT(p, r, c, ld) ((p)[(size_t)(r) * (ld) + (c)])
#define DIVUP(a, b) (((a) + (b) - 1) / (b))

__global__ void gemm_k(const float *m, const float *n, float *p, int nr, int ni, int nc)
{
    __shared__ float tm[B][B];
    __shared__ float tn[B][B];
    const int tid = threadIdx.x;
    const int u = tid & (B - 1);
    const int v = tid / B;
    const int c = blockIdx.x * B + u;
    const int r = blockIdx.y * B + v;
    float s = 0;
    int np = DIVUP(ni, B);
    int q, i;

    for (q = 0; q < np; q++) {
        int mc = q * B + u;
        int rn = q * B + v;
        if (r < nr && mc < ni)
            tm[v][u] = AT(m, r, mc, ni);
        else
            tm[v][u] = 0;
        if (rn < ni && c < nc)
            tn[v][u] = AT(n, rn, c, nc);
        else
            tn[v][u] = 0;
        __syncthreads();
        for (i = 0; i < B; i++)
            s += tm[v][i] * tn[i][u];
        __syncthreads();
    }
    if (r >= nr || c >= nc)
        return;
    AT(p, r, c, nc) = s;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 grid;
    cudaStream_t st;
    grid.x = DIVUP(l, B);
    grid.y = DIVUP(j, B);
    CHECK(cudaStreamCreate(&st));
    gemm_k<<<grid, B * B, 0, st>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(st));
    CHECK(cudaStreamDestroy(st));
}
