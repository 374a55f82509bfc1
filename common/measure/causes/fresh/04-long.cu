#include <cuda_runtime.h>

typedef unsigned int uint;
static const uint W = 16;

__global__ void mm(const float* M, const float* N, float* P, uint rowsM, uint inner, uint colsN)
{
    __shared__ float m[W][W + 1];
    __shared__ float n[W][W];
    uint u = threadIdx.x;
    uint v = threadIdx.y;
    uint globalRow = blockIdx.y * blockDim.y + v;
    uint globalCol = blockIdx.x * blockDim.x + u;
    uint rounds = inner / W;
    if (inner % W) rounds++;
    double accum = 0.0;
    for (uint round = 0; round < rounds; round++) {
        uint mc = round * W + u;
        uint nr = round * W + v;
        m[v][u] = 0;
        n[v][u] = 0;
        if (globalRow < rowsM)
            if (mc < inner)
                m[v][u] = M[globalRow * inner + mc];
        if (nr < inner)
            if (globalCol < colsN)
                n[v][u] = N[nr * colsN + globalCol];
        __syncthreads();
        for (uint w = W; w-- > 0;)
            accum += m[v][w] * n[w][u];
        __syncthreads();
    }
    if (globalRow >= rowsM) return;
    if (globalCol >= colsN) return;
    P[globalRow * colsN + globalCol] = (float)accum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l)
{
    dim3 threads(W, W, 1);
    dim3 blocks(l / W + (l % W ? 1 : 0), j / W + (j % W ? 1 : 0), 1);
    mm<<<blocks, threads>>>(M, N, P, j, k, l);
}
