#include <cuda_runtime.h>

#define AT(a, r, c, ld) (a)[(r) * (ld) + (c)]
#define BX 32
#define BY 8

__global__ void multiply(float *res, const float *lhs, const float *rhs, int ld)
{
    const int c = blockIdx.x * BX + threadIdx.x;
    const int r = blockIdx.y * BY + threadIdx.y;
    if (c >= ld || r >= ld)
        return;
    float sum = 0.0f;
    int t = 0;
    while (t < ld) {
        sum += AT(lhs, r, t, ld) * AT(rhs, t, c, ld);
        t++;
    }
    AT(res, r, c, ld) = sum;
}

static int blocksFor(int total, int per)
{
    return (total + per - 1) / per;
}

void solve(const float *lhs, const float *rhs, float *res, int ld)
{
    size_t size = sizeof(float) * ld * ld;
    float *dLhs = NULL, *dRhs = NULL, *dRes = NULL;
    cudaMalloc(&dLhs, size);
    cudaMalloc(&dRhs, size);
    cudaMalloc(&dRes, size);
    cudaMemcpy(dLhs, lhs, size, cudaMemcpyHostToDevice);
    cudaMemcpy(dRhs, rhs, size, cudaMemcpyHostToDevice);
    dim3 dimBlock(BX, BY);
    dim3 dimGrid(blocksFor(ld, BX), blocksFor(ld, BY));
    multiply<<<dimGrid, dimBlock>>>(dRes, dLhs, dRhs, ld);
    cudaMemcpy(res, dRes, size, cudaMemcpyDeviceToHost);
    cudaFree(dLhs);
    cudaFree(dRhs);
    cudaFree(dRes);
}
