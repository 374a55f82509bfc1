/* lab 1 - straight C, one exit point, no surprises */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>

#define TPB 256u

/* one thread = one output cell, cells are numbered row after row */
__global__ void mm(const float *a, const float *b, float *c, int n)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned total = (unsigned)n * n;
    unsigned i, j;
    const float *pa, *pb;
    float acc = 0.0f;
    int left;

    if (id >= total)
        return;
    i = id / n;
    j = id % n;
    pa = a + i * n;
    pb = b + j;
    left = n;
    while (left-- > 0) {
        acc += *pa * *pb;
        pa += 1;
        pb += n;
    }
    c[id] = acc;
}

#define TRY(x) do { rc = (x); if (rc != cudaSuccess) goto out; } while (0)

void solve(const float *M, const float *N, float *P, int width)
{
    cudaError_t rc = cudaSuccess;
    float *da = NULL, *db = NULL, *dc = NULL;
    size_t cells = (size_t)width * width;
    size_t sz = cells * sizeof(float);
    unsigned nblk = (unsigned)((cells + TPB - 1) / TPB);

    TRY(cudaMalloc((void **)&da, sz));
    TRY(cudaMalloc((void **)&db, sz));
    TRY(cudaMalloc((void **)&dc, sz));
    TRY(cudaMemcpy(da, M, sz, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(db, N, sz, cudaMemcpyHostToDevice));

    mm<<<nblk, TPB>>>(da, db, dc, width);
    TRY(cudaGetLastError());

    TRY(cudaMemcpy(P, dc, sz, cudaMemcpyDeviceToHost));
out:
    cudaFree(dc);
    cudaFree(db);
    cudaFree(da);
    if (rc != cudaSuccess) {
        fprintf(stderr, "solve: %s\n", cudaGetErrorString(rc));
        exit(1);
    }
}
