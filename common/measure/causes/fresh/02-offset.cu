#include <cuda_runtime.h>

const int TW = 16;

// both tiles in one array: the second begins at row TW
__global__ void oneArray(const float *m, const float *n, float *p, int width)
{
    __shared__ float tile[2 * TW][TW];
    int tx = threadIdx.x, ty = threadIdx.y;
    int gx = blockIdx.x * blockDim.x + tx;
    int gy = blockIdx.y * blockDim.y + ty;
    int phases = width / TW;
    float value = 0;
    for (int phase = phases - 1; phase >= 0; phase--) {
        int start = phase * TW;
        tile[ty][tx] = m[gy * width + start + tx];
        tile[TW + ty][tx] = n[(start + ty) * width + gx];
        __syncthreads();
        int k = 0;
        do {
            value += tile[ty][k] * tile[TW + k][tx];
            k++;
        } while (k < TW);
        __syncthreads();
    }
    p[gx + gy * width] = value;
}

void solve(const float *m, const float *n, float *p, int width)
{
    const int blocks = width / TW;
    oneArray<<<dim3(blocks, blocks, 1), dim3(TW, TW, 1)>>>(m, n, p, width);
}
