/* lab 1, plain C the way I am used to it */
#include <stdio.h>

#include "check.h"

#define NTHR 256

__global__ void mm(const float *a, const float *b, float *c, int w)
{
    int idx = blockIdx.x * NTHR + threadIdx.x; /* one number per element of c */
    int i, j, n;
    const float *pa, *pb;
    float acc = 0;

    if (idx >= w * w)
        return;
    i = idx / w;
    j = idx - i * w;
    pa = a + i * w; /* walks to the right */
    pb = b + j;     /* walks down */
    for (n = w; n > 0; n--) {
        acc += *pa++ * *pb;
        pb += w;
    }
    c[idx] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    int cells = width * width;
    size_t sz = (size_t)cells * sizeof *P;
    int nblocks = (cells - 1) / NTHR + 1;
    float *a = NULL, *b = NULL, *c = NULL;
    cudaError_t err;

    if ((err = cudaMalloc((void **)&a, sz)) != cudaSuccess) goto out;
    if ((err = cudaMalloc((void **)&b, sz)) != cudaSuccess) goto out;
    if ((err = cudaMalloc((void **)&c, sz)) != cudaSuccess) goto out;
    if ((err = cudaMemcpy(a, M, sz, cudaMemcpyHostToDevice)) != cudaSuccess) goto out;
    if ((err = cudaMemcpy(b, N, sz, cudaMemcpyHostToDevice)) != cudaSuccess) goto out;

    mm<<<nblocks, NTHR>>>(a, b, c, width);
    if ((err = cudaGetLastError()) != cudaSuccess) goto out;
    err = cudaMemcpy(P, c, sz, cudaMemcpyDeviceToHost);
out:
    if (err != cudaSuccess)
        fprintf(stderr, "mm: %s\n", cudaGetErrorString(err));
    cudaFree(c);
    cudaFree(b);
    cudaFree(a);
}
