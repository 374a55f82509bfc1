#include <stdio.h>
#include <cuda.h>

#define THREADS 128

// one thread per element, blocks in one dimension
__global__ void mul(float *x, float *y, float *z, int n)
{
    int id = blockDim.x * blockIdx.x + threadIdx.x;
    if (id >= n * n)
        return;
    int r = id / n;
    int c = id % n;
    float *px = x + r * n;
    float *py = y + c;
    float total = 0.0;
    int left = n;
    while (left--) {
        total += *px * *py;
        px++;
        py += n;
    }
    z[id] = total;
}

void solve(const float *x, const float *y, float *z, int n)
{
    float *dx, *dy, *dz;
    size_t count = (size_t)n * n;

    cudaMalloc((void **)&dx, count * sizeof(float));
    cudaMalloc((void **)&dy, count * sizeof(float));
    cudaMalloc((void **)&dz, count * sizeof(float));
    cudaMemcpy(dx, x, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y, count * sizeof(float), cudaMemcpyHostToDevice);

    int nblocks = (n * n + THREADS - 1) / THREADS;
    mul<<<nblocks, THREADS>>>(dx, dy, dz, n);

    cudaMemcpy(z, dz, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(dx);
    cudaFree(dy);
    cudaFree(dz);
}
