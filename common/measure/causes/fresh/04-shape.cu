#include <cuda_runtime.h>

struct Shape {
    int rows, cols;
};

#define SIDE 16

__global__ void shaped(const float *A, Shape a, const float *B, Shape b, float *C)
{
    __shared__ float partA[SIDE][SIDE + 1];
    __shared__ float partB[SIDE][SIDE];
    int lx = threadIdx.x, ly = threadIdx.y;
    int y = blockIdx.y * SIDE + ly;
    int x = blockIdx.x * SIDE + lx;
    bool hasRow = y < a.rows;
    bool hasCol = x < b.cols;
    float dot = 0.0f;
    for (int from = 0; from < a.cols; from += SIDE) {
        if (hasRow && from + lx < a.cols)
            partA[ly][lx] = A[y * a.cols + from + lx];
        else
            partA[ly][lx] = 0.0f;
        if (hasCol && from + ly < b.rows)
            partB[ly][lx] = B[(from + ly) * b.cols + x];
        else
            partB[ly][lx] = 0.0f;
        __syncthreads();
        for (int i = 0; i < SIDE; i++)
            dot = dot + partA[ly][i] * partB[i][lx];
        __syncthreads();
    }
    if (hasRow && hasCol)
        C[y * b.cols + x] = dot;
}

void solve(const float *A, const float *B, float *C, int j, int k, int l)
{
    Shape a = {j, k};
    Shape b = {k, l};
    dim3 threads(SIDE, SIDE);
    dim3 blocks((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE);
    shaped<<<blocks, threads>>>(A, a, B, b, C);
}
