#include <cuda_runtime.h>

#define TILE 32
#define WORK 8
#define STEP (TILE / WORK)

// every thread makes WORK results of one column
__global__ void coarse(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float sa[TILE][TILE];
    __shared__ float sb[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int rowBase = blockIdx.y * TILE;
    int col = blockIdx.x * TILE + tx;
    float acc[WORK];
#pragma unroll
    for (int w = 0; w < WORK; w++)
        acc[w] = 0;

    int nTiles = (k + TILE - 1) / TILE;
    for (int t = 0; t < nTiles; t++) {
#pragma unroll
        for (int w = 0; w < WORK; w++) {
            int ly = ty + w * STEP;
            int ar = rowBase + ly, ac = TILE * t + tx;
            int br = TILE * t + ly;
            sa[ly][tx] = ar < m && ac < k ? a[ar * k + ac] : 0;
            sb[ly][tx] = br < k && col < n ? b[br * n + col] : 0;
        }
        __syncthreads();
        for (int p = 0; p < TILE; p++) {
            float bv = sb[p][tx];
#pragma unroll
            for (int w = 0; w < WORK; w++)
                acc[w] += sa[ty + w * STEP][p] * bv;
        }
        __syncthreads();
    }
    if (col >= n)
        return;
#pragma unroll
    for (int w = 0; w < WORK; w++) {
        int row = rowBase + ty + w * STEP;
        if (row < m)
            c[row * n + col] = acc[w];
    }
}

void solve(const float *a, const float *b, float *c, int m, int k, int n)
{
    dim3 thr(TILE, STEP);
    dim3 blk((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    coarse<<<blk, thr>>>(a, b, c, m, k, n);
}
