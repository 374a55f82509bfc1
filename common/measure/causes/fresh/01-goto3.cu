/*
 * Lab 1, Horvath Zsolt
 * one thread per element, blocks are one-dimensional
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 256

static __global__ void mm(const float *a, const float *b, float *c, int n)
{
    unsigned id = blockIdx.x * NTHREADS + threadIdx.x;
    unsigned i, j;
    const float *pa, *pb, *end;
    float s = 0.f;

    if (id >= (unsigned)n * n)
        return;
    i = id / n;
    j = id % n;
    pa = a + (size_t)i * n;
    end = pa + n;
    pb = b + j;
    while (pa != end) {
        s += *pa++ * *pb;
        pb += n;
    }
    c[id] = s;
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *da = NULL, *db = NULL, *dc = NULL;
    int total = width * width;
    size_t nbytes = (size_t)total * sizeof(float);
    int nblocks = (total + NTHREADS - 1) / NTHREADS;
    cudaError_t err;

    err = cudaMalloc((void **)&da, nbytes);
    if (err != cudaSuccess)
        goto out;
    err = cudaMalloc((void **)&db, nbytes);
    if (err != cudaSuccess)
        goto out;
    err = cudaMalloc((void **)&dc, nbytes);
    if (err != cudaSuccess)
        goto out;
    err = cudaMemcpy(da, M, nbytes, cudaMemcpyHostToDevice);
    if (err != cudaSuccess)
        goto out;
    err = cudaMemcpy(db, N, nbytes, cudaMemcpyHostToDevice);
    if (err != cudaSuccess)
        goto out;

    mm<<<nblocks, NTHREADS>>>(da, db, dc, width);
    err = cudaGetLastError();
    if (err != cudaSuccess)
        goto out;
    err = cudaMemcpy(P, dc, nbytes, cudaMemcpyDeviceToHost);

out:
    cudaFree(dc);
    cudaFree(db);
    cudaFree(da);
    if (err != cudaSuccess) {
        fprintf(stderr, "matmul: %s\n", cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}
