#include <cuda_runtime.h>
#define TILE 16

__global__ void gemm(const float* A, const float* B, float* C, int m, int k, int n)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float s = 0.0f;
    for (int p = 0; p < (k + TILE - 1) / TILE; ++p) {
        int ac = p * TILE + threadIdx.x;
        int br = p * TILE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < m && ac < k) ? A[row * k + ac] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (br < k && col < n) ? B[br * n + col] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < TILE; ++i)
            s += As[threadIdx.y][i] * Bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = s;
}

void solve(const float* A, const float* B, float* C, int m, int k, int n)
{
    dim3 threads(TILE, TILE);
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    gemm<<<blocks, threads>>>(A, B, C, m, k, n);
    cudaDeviceSynchronize();
}
