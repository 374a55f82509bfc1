#include <cuda_runtime.h>

#define ROWS 32
#define COLS 32
#define DEPTH 8
#define PER 4

// 32 x 8 threads, each four results below one another, eight rows apart
__global__ void strips(const float *A, const float *B, float *C, const int m, const int k, const int n)
{
    __shared__ float As[ROWS][DEPTH];
    __shared__ float Bs[DEPTH][COLS];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int id = y * 32 + x;
    const int col = blockIdx.x * COLS + x;
    const int top = blockIdx.y * ROWS;

    const int aRow = id / DEPTH;
    const int aCol = id % DEPTH;

    float part[PER] = {0.f, 0.f, 0.f, 0.f};

    for (int d = 0; d < k; d += DEPTH) {
        As[aRow][aCol] = 0.f;
        if (top + aRow < m && d + aCol < k)
            As[aRow][aCol] = A[(top + aRow) * k + (d + aCol)];
        Bs[y][x] = 0.f;
        if (d + y < k && col < n)
            Bs[y][x] = B[(d + y) * n + col];
        __syncthreads();

        for (int e = 0; e < DEPTH; e++) {
            const float b = Bs[e][x];
            for (int p = 0; p < PER; p++)
                part[p] += As[y + 8 * p][e] * b;
        }
        __syncthreads();
    }

    for (int p = 0; p < PER; p++) {
        const int row = top + y + 8 * p;
        if (row < m && col < n)
            C[row * n + col] = part[p];
    }
}

void solve(const float *A, const float *B, float *C, int m, int k, int n)
{
    const dim3 block(32, 8);
    const dim3 grid((n + COLS - 1) / COLS, (m + ROWS - 1) / ROWS);
    strips<<<grid, block>>>(A, B, C, m, k, n);
}
