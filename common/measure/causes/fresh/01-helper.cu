#include <cuda_runtime.h>
#include <stdlib.h>

__device__ float dotProduct(const float* rowPtr, const float* colPtr, unsigned int len)
{
    float d = 0;
    for (unsigned int t = 0; t < len; t++)
        d += rowPtr[t] * colPtr[t * len];
    return d;
}

__global__ void kernel(const float* left, const float* right, float* out, unsigned int dim)
{
    const unsigned int xx = threadIdx.x + blockIdx.x * blockDim.x;
    const unsigned int yy = threadIdx.y + blockIdx.y * blockDim.y;
    if (xx < dim && yy < dim)
        out[yy * dim + xx] = dotProduct(&left[yy * dim], &right[xx], dim);
}

static unsigned int divUp(unsigned int a, unsigned int b)
{
    return a % b == 0 ? a / b : a / b + 1;
}

static float* toDevice(const float* host, size_t bytes)
{
    float* p = NULL;
    cudaMalloc(&p, bytes);
    if (host != NULL)
        cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice);
    return p;
}

void solve(const float* left, const float* right, float* out, int dim)
{
    size_t nb = sizeof(float) * dim * dim;
    float* devLeft = toDevice(left, nb);
    float* devRight = toDevice(right, nb);
    float* devOut = toDevice(NULL, nb);

    dim3 bs(32, 8);
    dim3 gs(divUp(dim, bs.x), divUp(dim, bs.y), 1);
    kernel<<<gs, bs>>>(devLeft, devRight, devOut, dim);
    cudaDeviceSynchronize();

    cudaMemcpy(out, devOut, nb, cudaMemcpyDeviceToHost);
    cudaFree(devLeft);
    cudaFree(devRight);
    cudaFree(devOut);
}
