#include <cuda_runtime.h>
#define TS 16

__global__ void mm(const float *a, const float *b, float *c, int n)
{
    __shared__ float sA[TS][TS];
    __shared__ float sB[TS][TS];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int gx = blockIdx.x * TS + x;
    const int gy = blockIdx.y * TS + y;
    float v = 0.f;
    for (int t = 0; t < n; t += TS)
    {
        sA[y][x] = a[gy * n + (t + x)];
        sB[y][x] = b[(t + y) * n + gx];
        __syncthreads();
        for (int e = 0; e < TS; e++)
        {
            v = v + sA[y][e] * sB[e][x];
        }
        __syncthreads();
    }
    c[gy * n + gx] = v;
}

void solve(const float *a, const float *b, float *c, int n)
{
    dim3 tpb(TS, TS);
    dim3 nb(n / TS, n / TS);
    mm<<<nb, tpb>>>(a, b, c, n);
}
