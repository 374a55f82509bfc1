#include <cuda_runtime.h>
#include <stdlib.h>

/* rows of the result along x, columns along y */
#define TRY(x)                  \
    do {                        \
        if ((x) != cudaSuccess) \
            goto done;          \
    } while (0)

typedef struct {
    float *m, *n, *p;
} device_t;

__global__ void mm(device_t d, int n)
{
    int r = threadIdx.x + blockIdx.x * blockDim.x;
    int c = threadIdx.y + blockIdx.y * blockDim.y;
    float acc = 0;
    int i = n;
    if (!(r < n && c < n))
        return;
    while (i > 0) {
        i--;
        acc += d.m[r * n + i] * d.n[i * n + c];
    }
    d.p[r * n + c] = acc;
}

static cudaError_t upload(float **to, const float *from, size_t bytes)
{
    cudaError_t e = cudaMalloc((void **)to, bytes);
    if (e == cudaSuccess)
        e = cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice);
    return e;
}

void solve(const float *M, const float *N, float *P, int width)
{
    device_t d = {0};
    const size_t bytes = (size_t)width * width * sizeof *P;
    dim3 threads(8, 16), blocks;
    blocks.x = (width + 7) / 8;
    blocks.y = (width + 15) / 16;
    TRY(upload(&d.m, M, bytes));
    TRY(upload(&d.n, N, bytes));
    TRY(cudaMalloc((void **)&d.p, bytes));
    mm<<<blocks, threads>>>(d, width);
    TRY(cudaMemcpy(P, d.p, bytes, cudaMemcpyDeviceToHost));
done:
    cudaFree(d.m);
    cudaFree(d.n);
    cudaFree(d.p);
}
