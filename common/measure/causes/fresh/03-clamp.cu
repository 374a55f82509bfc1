#include <cuda_runtime.h>
#define NT 16

__device__ int atMost(int v, int limit) { return v < limit ? v : limit; }

// loads are clamped to the matrix, and only real products are added
__global__ void clamped(const float* lhs, const float* rhs, float* res, int size)
{
    __shared__ float L[NT][NT];
    __shared__ float R[NT][NT];
    int myRow = blockIdx.y * NT + threadIdx.y;
    int myCol = blockIdx.x * NT + threadIdx.x;
    int safeRow = atMost(myRow, size - 1);
    int safeCol = atMost(myCol, size - 1);
    float total = 0.0f;
    int offset = 0;
    while (offset < size) {
        int lCol = atMost(offset + threadIdx.x, size - 1);
        int rRow = atMost(offset + threadIdx.y, size - 1);
        L[threadIdx.y][threadIdx.x] = lhs[safeRow * size + lCol];
        R[threadIdx.y][threadIdx.x] = rhs[rRow * size + safeCol];
        __syncthreads();
        int count = atMost(NT, size - offset);
        for (int q = 0; q < count; ++q)
            total += L[threadIdx.y][q] * R[q][threadIdx.x];
        __syncthreads();
        offset += NT;
    }
    if (myRow < size && myCol < size)
        res[myRow * size + myCol] = total;
}

void solve(const float* lhs, const float* rhs, float* res, int size)
{
    int side = size / NT;
    if (side * NT < size)
        side++;
    clamped<<<dim3(side, side), dim3(NT, NT)>>>(lhs, rhs, res, size);
}
