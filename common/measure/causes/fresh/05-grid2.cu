#include <cuda_runtime.h>

#define B 32
#define K 8
#define E 2

__device__ int place() { return threadIdx.y * (B / E) + threadIdx.x; }

// 16 x 16 threads, 2 x 2 neighbouring elements each
__global__ void grid2(const float *a, const float *b, float *c, int rows, int depth, int cols)
{
    __shared__ float sa[B][K];
    __shared__ float sb[K][B];
    float sum[E][E] = {{0, 0}, {0, 0}};
    const int y = E * threadIdx.y, x = E * threadIdx.x;
    const int top = blockIdx.y * B, left = blockIdx.x * B;

    for (int d = 0; d < depth; d += K) {
        int t = place();
        int ar = top + t / K, ac = d + t % K;
        sa[t / K][t % K] = ar < rows && ac < depth ? a[ar * depth + ac] : 0.0f;
        int br = d + t / B, bc = left + t % B;
        sb[t / B][t % B] = br < depth && bc < cols ? b[br * cols + bc] : 0.0f;
        __syncthreads();
        for (int q = 0; q < K; q++) {
            float u[E] = {sa[y][q], sa[y + 1][q]};
            float v[E] = {sb[q][x], sb[q][x + 1]};
            for (int i = 0; i < E; i++)
                for (int j = 0; j < E; j++)
                    sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < E; i++)
        for (int j = 0; j < E; j++)
            if (top + y + i < rows && left + x + j < cols)
                c[(top + y + i) * cols + left + x + j] = sum[i][j];
}

void solve(const float *a, const float *b, float *c, int rows, int depth, int cols)
{
    dim3 threads(B / E, B / E);
    dim3 blocks((cols + B - 1) / B, (rows + B - 1) / B);
    grid2<<<blocks, threads>>>(a, b, c, rows, depth, cols);
}
