#include <cstdio>
#include <cuda_runtime.h>

#define BLOCK 16

__global__ void matMulKernel(const float *A, const float *B, float *C, int n)
{
    int i = blockIdx.y * BLOCK + threadIdx.y;
    int j = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n && j < n)
    {
        float acc = 0;
        for (int k = 0; k < n; k++)
        {
            acc += A[i * n + k] * B[k * n + j];
        }
        C[i * n + j] = acc;
    }
}

void solve(const float *A, const float *B, float *C, int n)
{
    int size = n * n * sizeof(float);
    float *dA, *dB, *dC;

    cudaMalloc((void **)&dA, size);
    cudaMalloc((void **)&dB, size);
    cudaMalloc((void **)&dC, size);

    cudaMemcpy(dA, A, size, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, B, size, cudaMemcpyHostToDevice);

    dim3 threads(BLOCK, BLOCK);
    dim3 blocks((n + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    matMulKernel<<<blocks, threads>>>(dA, dB, dC, n);
    cudaDeviceSynchronize();

    cudaMemcpy(C, dC, size, cudaMemcpyDeviceToHost);

    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
}
