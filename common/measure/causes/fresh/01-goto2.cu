/* matmul lab 1 -- plain C with a cleanup label, as in our firmware */
#include "check.h"
#include <stdint.h>
#include <stdio.h>

#define THREADS_PER_BLOCK 256u

/* one flat index per thread: pos = y * w + x */
__global__ void mm_flat(const float *a, const float *b, float *c, uint32_t w)
{
    uint32_t pos = blockIdx.x * THREADS_PER_BLOCK + threadIdx.x;
    uint32_t x, y, i;
    float acc = 0.0f;

    if (pos >= w * w)
        return;

    y = pos / w;
    x = pos - y * w;

    a += y * w;         /* start of our row */
    b += x;             /* top of our column */
    for (i = 0; i < w; i++) {
        acc += *a * *b;
        a++;
        b += w;
    }
    c[pos] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    cudaError_t err;
    float *dev[3] = { NULL, NULL, NULL };
    const uint32_t n_elem = (uint32_t)width * (uint32_t)width;
    const size_t n_bytes = n_elem * sizeof(float);
    uint32_t n_blocks;
    int i;

    for (i = 0; i < 3; i++) {
        err = cudaMalloc((void **)&dev[i], n_bytes);
        if (err != cudaSuccess)
            goto out;
    }

    err = cudaMemcpy(dev[0], M, n_bytes, cudaMemcpyHostToDevice);
    if (err != cudaSuccess)
        goto out;
    err = cudaMemcpy(dev[1], N, n_bytes, cudaMemcpyHostToDevice);
    if (err != cudaSuccess)
        goto out;

    n_blocks = n_elem / THREADS_PER_BLOCK;
    if (n_elem % THREADS_PER_BLOCK != 0)
        n_blocks++;

    mm_flat<<<n_blocks, THREADS_PER_BLOCK>>>(dev[0], dev[1], dev[2], (uint32_t)width);
    err = cudaGetLastError();
    if (err != cudaSuccess)
        goto out;

    err = cudaMemcpy(P, dev[2], n_bytes, cudaMemcpyDeviceToHost);

out:
    for (i = 0; i < 3; i++)
        cudaFree(dev[i]);
    if (err != cudaSuccess)
        fprintf(stderr, "solve: %s\n", cudaGetErrorString(err));
}
