#include "check.h"

#define BS 16
#define BLOCK_THREADS (BS * BS)
#define AT(base, row, col, ld) ((base)[(row) * (ld) + (col)])

// 256 threads in one dimension; both tiles lie behind each other in one array.
__global__ void gemm_tiles(const float *A, const float *B, float *C, int n)
{
    __shared__ float buf[2 * BS * BS];
    float *ta = buf;
    float *tb = buf + BS * BS;

    int tid = threadIdx.x;
    int lr = tid / BS;
    int lc = tid % BS;
    int gr = blockIdx.y * BS + lr;
    int gc = blockIdx.x * BS + lc;

    float value = 0.f;
    int t = 0;
    do {
        AT(ta, lr, lc, BS) = AT(A, gr, t + lc, n);
        AT(tb, lr, lc, BS) = AT(B, t + lr, gc, n);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < BS; e++)
            value += AT(ta, lr, e, BS) * AT(tb, e, lc, BS);
        __syncthreads();
        t += BS;
    } while (t < n);
    AT(C, gr, gc, n) = value;
}

void solve(const float *M, const float *N, float *P, int width)
{
    int tiles = width / BS;
    gemm_tiles<<<dim3(tiles, tiles, 1), BLOCK_THREADS>>>(M, N, P, width);
    CHECK(cudaGetLastError());
}
