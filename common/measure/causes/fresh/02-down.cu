#include <cuda_runtime.h>

const int T = 16;

__global__ void tiledMul(const float *Md, const float *Nd, float *Pd, int W)
{
    __shared__ float left[T][T], right[T][T];
    unsigned int bx = blockIdx.x, by = blockIdx.y;
    unsigned int tx = threadIdx.x, ty = threadIdx.y;
    const float *mp = Md + (by * T + ty) * W + tx;
    const float *np = Nd + ty * W + bx * T + tx;
    float dot = 0;
    int turns = W / T;
    do {
        left[ty][tx] = *mp;
        right[tx][ty] = *np;   // stored turned
        __syncthreads();
        for (int k = T - 1; k >= 0; --k) {
            dot += left[ty][k] * right[tx][k];
        }
        __syncthreads();
        mp += T;
        np += T * W;
    } while (--turns > 0);
    Pd[(by * T + ty) * W + (bx * T + tx)] = dot;
}

void solve(const float *M, const float *N, float *P, int Width)
{
    dim3 Block(T, T, 1);
    dim3 Grid;
    Grid.x = Width / Block.x;
    Grid.y = Width / Block.y;
    tiledMul<<<Grid, Block>>>(M, N, P, Width);
}
