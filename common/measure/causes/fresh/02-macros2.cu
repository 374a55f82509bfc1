/* tiled multiplication, flat block, flat tiles */
#include <stdlib.h>
#include "check.h"

#define T 16
#define AREA (T * T)
#define AT(p, ld, r, c) ((p)[(r) * (ld) + (c)])

static __device__ void load_pair(float *buf, const float *A, const float *B, int n,
                                 int arow, int bcol, int k0, int lr, int lc)
{
    AT(buf, T, lr, lc) = AT(A, n, arow + lr, k0 + lc);
    AT(buf + AREA, T, lr, lc) = AT(B, n, k0 + lr, bcol + lc);
}

static __device__ float row_times_col(const float *row, const float *col)
{
    float s = 0;
    for (const float *end = row + T; row < end; ++row, col += T)
        s += *row * *col;
    return s;
}

__global__ void gemm_flat(const float *A, const float *B, float *C, int n)
{
    __shared__ float buf[2 * AREA]; /* tile of A, then tile of B */
    int id = threadIdx.x;
    int lr = id / T, lc = id % T;
    int per_side = n / T;
    int brow = blockIdx.x / per_side, bcol = blockIdx.x % per_side;
    float acc = 0;
    int k0 = 0;

    do {
        load_pair(buf, A, B, n, brow * T, bcol * T, k0, lr, lc);
        __syncthreads();
        acc += row_times_col(buf + lr * T, buf + AREA + lc);
        __syncthreads();
        k0 += T;
    } while (k0 < n);

    AT(C, n, brow * T + lr, bcol * T + lc) = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    int tiles = (width / T) * (width / T);
    gemm_flat<<<tiles, AREA>>>(M, N, P, width);
    if (cudaGetLastError() != cudaSuccess) abort();
}
