/* Lab 1. One thread = one number of the result, flat numbering. */
#include <stdio.h>
#include <stdlib.h>
#include "check.h"

#define NT 256 /* threads in a block */

__global__ void mm(const float *a, const float *b, float *c, int n, int total)
{
    int idx, r, q, s;
    float acc;

    idx = blockDim.x * blockIdx.x + threadIdx.x;
    if (idx >= total)
        return;
    r = idx / n;
    q = idx - r * n;
    acc = 0.0f;
    for (s = 0; s < n; s++)
        acc += a[r * n + s] * b[s * n + q];
    c[idx] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *da = NULL, *db = NULL, *dc = NULL;
    int total = width * width;
    int nb = total / NT;
    size_t size = (size_t)total * sizeof(float);
    cudaError_t rc;

    if (total % NT != 0)
        nb++;

    rc = cudaMalloc((void **)&da, size);
    if (rc != cudaSuccess)
        goto out;
    rc = cudaMalloc((void **)&db, size);
    if (rc != cudaSuccess)
        goto out;
    rc = cudaMalloc((void **)&dc, size);
    if (rc != cudaSuccess)
        goto out;

    rc = cudaMemcpy(da, M, size, cudaMemcpyHostToDevice);
    if (rc != cudaSuccess)
        goto out;
    rc = cudaMemcpy(db, N, size, cudaMemcpyHostToDevice);
    if (rc != cudaSuccess)
        goto out;

    mm<<<nb, NT>>>(da, db, dc, width, total);
    rc = cudaGetLastError();
    if (rc != cudaSuccess)
        goto out;
    rc = cudaMemcpy(P, dc, size, cudaMemcpyDeviceToHost);

out:
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    if (rc != cudaSuccess) {
        fprintf(stderr, "cuda: %s\n", cudaGetErrorString(rc));
        exit(EXIT_FAILURE);
    }
}
