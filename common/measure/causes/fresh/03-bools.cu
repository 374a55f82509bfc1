#include <cuda_runtime.h>

#define T 16
#define MIN(a, b) ((a) < (b) ? (a) : (b))

// only the valid part of a tile is multiplied
__global__ void tiledMul(const float *a, const float *b, float *c, int n)
{
    __shared__ float sa[T][T];
    __shared__ float sb[T][T];

    unsigned int ty = threadIdx.y;
    unsigned int tx = threadIdx.x;
    unsigned int y = blockIdx.y * T + ty;
    unsigned int x = blockIdx.x * T + tx;
    bool rowOk = y < n;
    bool colOk = x < n;
    float res = 0.f;

    for (int start = 0; start < n; start += T) {
        int len = MIN(T, n - start);
        if (rowOk && tx < len)
            sa[ty][tx] = a[y * n + start + tx];
        if (colOk && ty < len)
            sb[ty][tx] = b[(start + ty) * n + x];
        __syncthreads();
        if (rowOk && colOk)
            for (int s = 0; s < len; ++s)
                res += sa[ty][s] * sb[s][tx];
        __syncthreads();
    }
    if (rowOk && colOk)
        c[y * n + x] = res;
}

void solve(const float *a, const float *b, float *c, int n)
{
    int g = n / T + (n % T != 0);
    tiledMul<<<dim3(g, g), dim3(T, T)>>>(a, b, c, n);
}
