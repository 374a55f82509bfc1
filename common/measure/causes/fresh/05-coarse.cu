#include <cuda_runtime.h>

#define TILE_WIDTH 16
#define COARSE_FACTOR 4

/* Thread coarsening as the book does it: a thread takes COARSE_FACTOR columns, one tile apart. */
__global__ void coarseKernel(const float *M, const float *N, float *P, int height, int inner, int width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][COARSE_FACTOR * TILE_WIDTH];

    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;

    int row = by * TILE_WIDTH + ty;
    int colStart = bx * TILE_WIDTH * COARSE_FACTOR + tx;

    float Pvalue[COARSE_FACTOR];
    for (int c = 0; c < COARSE_FACTOR; ++c)
        Pvalue[c] = 0.0f;

    for (int ph = 0; ph < (inner - 1) / TILE_WIDTH + 1; ++ph) {
        int mCol = ph * TILE_WIDTH + tx;
        if (row < height && mCol < inner)
            Mds[ty][tx] = M[row * inner + mCol];
        else
            Mds[ty][tx] = 0.0f;

        for (int c = 0; c < COARSE_FACTOR; ++c) {
            int nRow = ph * TILE_WIDTH + ty;
            int nCol = colStart + c * TILE_WIDTH;
            if (nRow < inner && nCol < width)
                Nds[ty][c * TILE_WIDTH + tx] = N[nRow * width + nCol];
            else
                Nds[ty][c * TILE_WIDTH + tx] = 0.0f;
        }
        __syncthreads();

        for (int k = 0; k < TILE_WIDTH; ++k) {
            float m = Mds[ty][k];
            for (int c = 0; c < COARSE_FACTOR; ++c)
                Pvalue[c] += m * Nds[k][c * TILE_WIDTH + tx];
        }
        __syncthreads();
    }

    for (int c = 0; c < COARSE_FACTOR; ++c) {
        int col = colStart + c * TILE_WIDTH;
        if (row < height && col < width)
            P[row * width + col] = Pvalue[c];
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
    dim3 dimGrid((l - 1) / (TILE_WIDTH * COARSE_FACTOR) + 1, (j - 1) / TILE_WIDTH + 1, 1);
    coarseKernel<<<dimGrid, dimBlock>>>(M, N, P, j, k, l);
}
