#include <cuda_runtime.h>

#define ROWS 64
#define COLS 64
#define DEPTH 8
#define PER 8

// every thread has eight results below each other
__global__ void eight(const float *A, const float *B, float *C, int M, int K, int N)
{
    __shared__ float tileA[ROWS * DEPTH];
    __shared__ float tileB[DEPTH * COLS];
    int tid = threadIdx.x;
    int myCol = tid % COLS;
    int myRow = tid / COLS;
    int loadRowA = tid / DEPTH, loadColA = tid % DEPTH;
    int loadRowB = tid / COLS, loadColB = tid % COLS;
    int firstRow = blockIdx.y * ROWS;
    int firstCol = blockIdx.x * COLS;

    float sums[PER] = {0.0f};
    for (int base = 0; base < K; base += DEPTH) {
        float a = 0.0f, b = 0.0f;
        if (firstRow + loadRowA < M && base + loadColA < K)
            a = A[(firstRow + loadRowA) * K + base + loadColA];
        if (base + loadRowB < K && firstCol + loadColB < N)
            b = B[(base + loadRowB) * N + firstCol + loadColB];
        tileA[loadRowA * DEPTH + loadColA] = a;
        tileB[loadRowB * COLS + loadColB] = b;
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            float bb = tileB[d * COLS + myCol];
            for (int r = 0; r < PER; r++)
                sums[r] += tileA[(myRow * PER + r) * DEPTH + d] * bb;
        }
        __syncthreads();
    }
    for (int r = 0; r < PER; r++) {
        int row = firstRow + myRow * PER + r;
        int col = firstCol + myCol;
        if (row < M && col < N)
            C[row * N + col] = sums[r];
    }
}

void solve(const float *A, const float *B, float *C, int M, int K, int N)
{
    dim3 grid((N + COLS - 1) / COLS, (M + ROWS - 1) / ROWS);
    eight<<<grid, ROWS * COLS / PER>>>(A, B, C, M, K, N);
}
