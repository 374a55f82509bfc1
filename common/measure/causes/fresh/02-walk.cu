#include <cuda_runtime.h>
#define N_TILE 16

struct Tiles {
    float a[N_TILE][N_TILE];
    float b[N_TILE][N_TILE];
};

__global__ void tiledWalk(const float *A, const float *B, float *C, int n)
{
    __shared__ Tiles tiles;
    const int col = threadIdx.x, row = threadIdx.y;
    const int x0 = N_TILE * blockIdx.x, y0 = N_TILE * blockIdx.y;

    const float *aBegin = A + n * y0;
    const float *aEnd = aBegin + n;
    const float *bBegin = B + x0;

    float acc = 0.f;
    for (; aBegin < aEnd; aBegin += N_TILE, bBegin += N_TILE * n) {
        tiles.a[row][col] = aBegin[n * row + col];
        tiles.b[row][col] = bBegin[n * row + col];
        __syncthreads();
        for (int q = 0; q < N_TILE; ++q)
            acc += tiles.a[row][q] * tiles.b[q][col];
        __syncthreads();
    }
    C[n * (y0 + row) + x0 + col] = acc;
}

void solve(const float *A, const float *B, float *C, int n)
{
    dim3 block(N_TILE, N_TILE), grid(n / N_TILE, n / N_TILE);
    tiledWalk<<<grid, block>>>(A, B, C, n);
}
