#include <cstdio>
#include <cuda_runtime.h>

// every thread walks over P in steps of the whole grid
__global__ void mm_kernel(const float *dA, const float *dB, float *dC, int dim)
{
    int gx = blockIdx.x * blockDim.x + threadIdx.x;
    int gy = blockIdx.y * blockDim.y + threadIdx.y;
    int stepX = gridDim.x * blockDim.x;
    int stepY = gridDim.y * blockDim.y;
    for (int i = gy; i < dim; i += stepY) {
        for (int j = gx; j < dim; j += stepX) {
            double acc = 0;
            int ia = i * dim, ib = j;
            for (int n = dim; n > 0; n--) {
                acc += dA[ia] * dB[ib];
                ia++;
                ib += dim;
            }
            dC[i * dim + j] = acc;
        }
    }
}

void solve(const float *hA, const float *hB, float *hC, int dim)
{
    float *dA = NULL, *dB = NULL, *dC = NULL;
    int nBytes = dim * dim * sizeof(float);
    cudaMalloc((void **)&dA, nBytes);
    cudaMalloc((void **)&dB, nBytes);
    cudaMalloc((void **)&dC, nBytes);
    cudaMemcpy(dA, hA, nBytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, hB, nBytes, cudaMemcpyHostToDevice);

    dim3 tpb(8, 8);
    dim3 bpg(min((dim + 7) / 8, 16), min((dim + 7) / 8, 16));
    mm_kernel<<<bpg, tpb>>>(dA, dB, dC, dim);
    if (cudaGetLastError() != cudaSuccess)
        printf("launch failed\n");

    cudaMemcpy(hC, dC, nBytes, cudaMemcpyDeviceToHost);
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
}
