// Lab 01 - Yrjo H. (C, kernel modules). One flat index, goto on failure.
#include <stdio.h>
#include <stdlib.h>

#define NTHR 256

__global__ void mult(const float *a, const float *b, float *c, int n)
{
    long id = (long)blockIdx.x * NTHR + threadIdx.x;
    if (id >= (long)n * n)
        return;
    int rivi = id / n;      /* row */
    int sarake = id % n;    /* column */

    const float *pa = a + (size_t)rivi * n;
    const float *pb = b + sarake;
    const float *end = pa + n;
    float acc = 0;
    while (pa < end) {
        acc += *pa++ * *pb;
        pb += n;
    }
    c[id] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *mem = NULL, *da, *db, *dc;
    size_t cnt = (size_t)width * width;
    int nblk = (int)((cnt + NTHR - 1) / NTHR);
    cudaError_t rc;

    /* one allocation, three matrices one after the other */
    rc = cudaMalloc((void **)&mem, 3 * cnt * sizeof *mem);
    if (rc != cudaSuccess)
        goto out;
    da = mem;
    db = da + cnt;
    dc = db + cnt;

    rc = cudaMemcpy(da, M, cnt * sizeof *M, cudaMemcpyHostToDevice);
    if (rc != cudaSuccess)
        goto out;
    rc = cudaMemcpy(db, N, cnt * sizeof *N, cudaMemcpyHostToDevice);
    if (rc != cudaSuccess)
        goto out;

    mult<<<nblk, NTHR>>>(da, db, dc, width);
    rc = cudaGetLastError();
    if (rc != cudaSuccess)
        goto out;
    rc = cudaMemcpy(P, dc, cnt * sizeof *P, cudaMemcpyDeviceToHost);

out:
    if (rc != cudaSuccess)
        fprintf(stderr, "solve: %s\n", cudaGetErrorString(rc));
    cudaFree(mem);
}
