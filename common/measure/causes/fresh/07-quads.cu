#include <cuda_runtime.h>

#define TILE 32

__device__ float4 fetch(const float *src, int ld, int r, int c, int rows, int cols)
{
    float4 q = {0.0f, 0.0f, 0.0f, 0.0f};
    if (r < rows) {
        const float *p = src + r * ld + c;
        if (c + 3 < cols && ld % 4 == 0) {
            q = *reinterpret_cast<const float4 *>(p);
        } else {
            if (c < cols)     q.x = p[0];
            if (c + 1 < cols) q.y = p[1];
            if (c + 2 < cols) q.z = p[2];
            if (c + 3 < cols) q.w = p[3];
        }
    }
    return q;
}

// 8 x 32 threads; a thread computes four neighbours of one row
__global__ void quads(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float sa[TILE][TILE];
    __shared__ float4 sb[TILE][TILE / 4];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y;
    int col = blockIdx.x * TILE + 4 * x;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    for (int s = 0; s < k; s += TILE) {
        float4 u = fetch(a, k, row, s + 4 * x, m, k);
        sa[y][4 * x] = u.x;
        sa[y][4 * x + 1] = u.y;
        sa[y][4 * x + 2] = u.z;
        sa[y][4 * x + 3] = u.w;
        sb[y][x] = fetch(b, n, s + y, col, k, n);
        __syncthreads();
        for (int e = 0; e < TILE; ++e) {
            float f = sa[y][e];
            float4 g = sb[e][x];
            sum.x += f * g.x;
            sum.y += f * g.y;
            sum.z += f * g.z;
            sum.w += f * g.w;
        }
        __syncthreads();
    }
    if (row < m) {
        float *out = c + row * n;
        if (col < n)     out[col] = sum.x;
        if (col + 1 < n) out[col + 1] = sum.y;
        if (col + 2 < n) out[col + 2] = sum.z;
        if (col + 3 < n) out[col + 3] = sum.w;
    }
}

void solve(const float *a, const float *b, float *c, int m, int k, int n)
{
    dim3 t(TILE / 4, TILE);
    dim3 g((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    quads<<<g, t>>>(a, b, c, m, k, n);
}
