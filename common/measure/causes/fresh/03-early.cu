#include <cuda_runtime.h>

#define B 16

__device__ inline bool inside(int r, int c, int n) { return r < n && c < n; }

__global__ void mul(const float *x, const float *y, float *z, int n)
{
    __shared__ float tx_[B][B + 1];
    __shared__ float ty_[B][B + 1];
    int i = threadIdx.y, j = threadIdx.x;
    int gi = blockIdx.y * B + i;
    int gj = blockIdx.x * B + j;
    float total = 0.0f;
    int full = n / B, rest = n % B;
    for (int p = 0; p < full; ++p) {
        tx_[i][j] = gi < n ? x[gi * n + p * B + j] : 0.0f;
        ty_[i][j] = gj < n ? y[(p * B + i) * n + gj] : 0.0f;
        __syncthreads();
        for (int q = 0; q < B; ++q)
            total += tx_[i][q] * ty_[q][j];
        __syncthreads();
    }
    if (rest) {
        int from = full * B;
        if (inside(gi, from + j, n))
            tx_[i][j] = x[gi * n + from + j];
        if (inside(from + i, gj, n))
            ty_[i][j] = y[(from + i) * n + gj];
        __syncthreads();
        if (inside(gi, gj, n))
            for (int q = 0; q < rest; ++q)
                total += tx_[i][q] * ty_[q][j];
    }
    if (inside(gi, gj, n))
        z[gi * n + gj] = total;
}

void solve(const float *x, const float *y, float *z, int n)
{
    int blocks = n / B + (n % B != 0);
    mul<<<dim3(blocks, blocks), dim3(B, B)>>>(x, y, z, n);
}
