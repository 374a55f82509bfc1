/* Lab 1 - Karim B. - plain C with a bit of CUDA */
#include <stdio.h>
#include "check.h"

#define BX 32
#define BY 8

__global__ void mm(const float *a, const float *b, float *c, int n)
{
    int i = threadIdx.y + BY * blockIdx.y;
    int j = threadIdx.x + BX * blockIdx.x;

    if (i < n && j < n) {
        const float *pa = a + i * n;
        const float *pb = b + j;
        float acc = 0;
        int left = n;
        while (left-- > 0) {
            acc += *pa++ * *pb;
            pb += n;
        }
        c[i * n + j] = acc;
    }
}

static int bad(cudaError_t err, const char *what)
{
    if (err == cudaSuccess)
        return 0;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
    return 1;
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *buf[3] = {NULL, NULL, NULL};
    size_t row_bytes = width * sizeof(float);
    size_t size = width * row_bytes;
    dim3 threads, blocks;
    int i;

    for (i = 0; i < 3; i++)
        if (bad(cudaMalloc((void **)&buf[i], size), "malloc"))
            goto out;

    if (bad(cudaMemcpy(buf[0], M, size, cudaMemcpyHostToDevice), "copy M"))
        goto out;
    if (bad(cudaMemcpy(buf[1], N, size, cudaMemcpyHostToDevice), "copy N"))
        goto out;

    threads.x = BX;
    threads.y = BY;
    blocks.x = (width + BX - 1) / BX;
    blocks.y = (width + BY - 1) / BY;
    mm<<<blocks, threads>>>(buf[0], buf[1], buf[2], width);
    if (bad(cudaGetLastError(), "launch"))
        goto out;

    bad(cudaMemcpy(P, buf[2], size, cudaMemcpyDeviceToHost), "copy P");

out:
    for (i = 0; i < 3; i++)
        cudaFree(buf[i]);
}
