// embedded C: flat arrays with an explicit pitch, addresses computed once
#include "check.h"

#define NTHREADS 256
#define SIDE 64
#define DEPTH 16
#define PITCH (SIDE + 2) /* 66 = 2 mod 32: (i, r) -> 2 i + r, all banks differ */
#define R 4

__global__ void mm(const float *m, const float *n, float *p, int nj, int nk, int nl)
{
    __shared__ float tm[DEPTH * PITCH];
    __shared__ float tn[DEPTH * SIDE];

    const int id = threadIdx.x;
    const int cx = id & 15;
    const int cy = id >> 4;
    const int row0 = blockIdx.y * SIDE;
    const int col0 = blockIdx.x * SIDE;
    /* loading: m is read 16 rows at a time, n is read 4 rows at a time */
    const int mi = id % DEPTH, mr = id / DEPTH;
    const int nc = id % SIDE, ni = id / SIDE;

    float s[R][R] = {{0}};
    int base, q, i, a, b;

    for (base = 0; base < nk; base += DEPTH) {
#pragma unroll
        for (q = 0; q < SIDE; q += NTHREADS / DEPTH) {
            int row = row0 + mr + q, col = base + mi;
            float f = 0.0f;
            if (row < nj && col < nk)
                f = m[(size_t)row * nk + col];
            tm[mi * PITCH + mr + q] = f;
        }
#pragma unroll
        for (q = 0; q < DEPTH; q += NTHREADS / SIDE) {
            int row = base + ni + q, col = col0 + nc;
            float f = 0.0f;
            if (row < nk && col < nl)
                f = n[(size_t)row * nl + col];
            tn[(ni + q) * SIDE + nc] = f;
        }
        __syncthreads();

        for (i = 0; i < DEPTH; i++) {
            const float *pm = tm + i * PITCH + cy * R;
            const float *pn = tn + i * SIDE + cx;
#pragma unroll
            for (a = 0; a < R; a++)
#pragma unroll
                for (b = 0; b < R; b++)
                    s[a][b] += pm[a] * pn[b * 16];
        }
        __syncthreads();
    }

#pragma unroll
    for (b = 0; b < R; b++) {
        int col = col0 + cx + 16 * b;
        if (col >= nl)
            continue;
#pragma unroll
        for (a = 0; a < R; a++) {
            int row = row0 + cy * R + a;
            if (row < nj)
                p[(size_t)row * nl + col] = s[a][b];
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 grid;
    grid.x = (l + SIDE - 1) / SIDE;
    grid.y = (j + SIDE - 1) / SIDE;
    mm<<<grid, NTHREADS>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
