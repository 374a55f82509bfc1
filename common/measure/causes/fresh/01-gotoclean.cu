/* lab 1 - Radek - I come from plain C, so: goto for cleaning up, one-dimensional blocks */
#include <stdio.h>
#include <stdlib.h>
#include "check.h"

#define NTHREADS 256

__global__ void mm1(const float *a, const float *b, float *c, int n)
{
    int total = n * n;
    int id = blockIdx.x * NTHREADS + threadIdx.x;   /* number of the element */
    int r, s;
    const float *pa, *pb, *end;
    float acc = 0;

    if (id >= total)
        return;
    r = id / n;
    s = id % n;
    pa = a + r * n;        /* walks along the row */
    end = pa + n;
    pb = b + s;            /* walks down the column */
    while (pa < end) {
        acc += *pa * *pb;
        pa++;
        pb += n;
    }
    c[id] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *da = NULL, *db = NULL, *dc = NULL;
    size_t nbytes = (size_t)width * width * sizeof(float);
    int nblocks;
    cudaError_t rc;

    if ((rc = cudaMalloc((void **)&da, nbytes)) != cudaSuccess) goto fail;
    if ((rc = cudaMalloc((void **)&db, nbytes)) != cudaSuccess) goto fail;
    if ((rc = cudaMalloc((void **)&dc, nbytes)) != cudaSuccess) goto fail;
    if ((rc = cudaMemcpy(da, M, nbytes, cudaMemcpyHostToDevice)) != cudaSuccess) goto fail;
    if ((rc = cudaMemcpy(db, N, nbytes, cudaMemcpyHostToDevice)) != cudaSuccess) goto fail;

    nblocks = width * width / NTHREADS;
    if (width * width % NTHREADS)
        nblocks++;
    mm1<<<nblocks, NTHREADS>>>(da, db, dc, width);
    if ((rc = cudaGetLastError()) != cudaSuccess) goto fail;
    rc = cudaMemcpy(P, dc, nbytes, cudaMemcpyDeviceToHost);
fail:
    if (rc != cudaSuccess) {
        fprintf(stderr, "solve: %s\n", cudaGetErrorString(rc));
        exit(1);
    }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
}
