#include <cuda_runtime.h>

#define TS 32

__device__ float4 row4(const float *p, int row, int col, int rows, int cols)
{
    float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (row >= rows)
        return v;
    const float *q = p + row * cols + col;
    if (cols % 4 == 0 && col + 3 < cols) {
        v = *reinterpret_cast<const float4 *>(q);
    } else {
        if (col < cols) v.x = q[0];
        if (col + 1 < cols) v.y = q[1];
        if (col + 2 < cols) v.z = q[2];
        if (col + 3 < cols) v.w = q[3];
    }
    return v;
}

// 8 x 32 threads, each 4 results beside each other
__global__ void rows4(const float *M, const float *N, float *P, int j, int k, int l)
{
    __shared__ float4 ms[TS][TS / 4];
    __shared__ float4 ns[TS][TS / 4];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty;
    int col = blockIdx.x * TS + tx * 4;
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int ph = 0; ph < k; ph += TS) {
        ms[ty][tx] = row4(M, row, ph + tx * 4, j, k);
        ns[ty][tx] = row4(N, ph + ty, col, k, l);
        __syncthreads();
        const float *mine = (const float *)ms[ty];
        for (int e = 0; e < TS; e++) {
            float a = mine[e];
            float4 b = ns[e][tx];
            sum.x += a * b.x;
            sum.y += a * b.y;
            sum.z += a * b.z;
            sum.w += a * b.w;
        }
        __syncthreads();
    }
    if (row < j) {
        if (col < l) P[row * l + col] = sum.x;
        if (col + 1 < l) P[row * l + col + 1] = sum.y;
        if (col + 2 < l) P[row * l + col + 2] = sum.z;
        if (col + 3 < l) P[row * l + col + 3] = sum.w;
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 grid((l + TS - 1) / TS, (j + TS - 1) / TS);
    rows4<<<grid, dim3(TS / 4, TS)>>>(M, N, P, j, k, l);
}
