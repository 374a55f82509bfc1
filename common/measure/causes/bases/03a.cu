#include <cuda_runtime.h>
const int W = 16;

__global__ void mmTiled(const float* A, const float* B, float* C, int n)
{
    __shared__ float tileA[W][W];
    __shared__ float tileB[W][W];
    int tx = threadIdx.x, ty = threadIdx.y;
    int r = blockIdx.y * W + ty;
    int c = blockIdx.x * W + tx;
    float value = 0.0;
    int numTiles = (n + W - 1) / W;
    for (int t = 0; t < numTiles; t++) {
        if (r < n && t * W + tx < n)
            tileA[ty][tx] = A[r * n + t * W + tx];
        else
            tileA[ty][tx] = 0.0f;
        if (t * W + ty < n && c < n)
            tileB[ty][tx] = B[(t * W + ty) * n + c];
        else
            tileB[ty][tx] = 0.0f;
        __syncthreads();
        for (int i = 0; i < W; i++)
            value += tileA[ty][i] * tileB[i][tx];
        __syncthreads();
    }
    if (r < n && c < n)
        C[r * n + c] = value;
}

void solve(const float* A, const float* B, float* C, int n)
{
    dim3 dimBlock(W, W);
    dim3 dimGrid((n + W - 1) / W, (n + W - 1) / W);
    mmTiled<<<dimGrid, dimBlock>>>(A, B, C, n);
}
