#include <cuda_runtime.h>
#include "check.h"

union Vec {
    float4 v;
    float f[4];
};

struct Mat {
    const float *base;
    int h, w;
    __device__ Vec get(int r, int c) const {
        Vec out;
        out.v = float4{0, 0, 0, 0};
        if (r >= h) return out;
        if (w % 4 == 0 && c < w) {
            out.v = ((const float4 *)base)[((size_t)r * w + c) / 4];
        } else {
            for (int i = 0; i < 4; i++)
                if (c + i < w) out.f[i] = base[(size_t)r * w + c + i];
        }
        return out;
    }
};

// 16 x 16 threads with 2 x 4 elements each: 32 rows and 64 columns of P
__global__ void unionKernel(Mat m, Mat n, float *p)
{
    __shared__ Vec ms[32][4];    // 32 rows of 16
    __shared__ Vec ns[16][16];   // 16 rows of 64
    const int id = threadIdx.x, y = id / 16, x = id % 16;
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 64;
    float s[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};

    for (int step = 0; step * 16 < m.w; step++) {
        if (id < 128)
            ms[id / 4][id % 4] = m.get(row0 + id / 4, step * 16 + id % 4 * 4);
        ns[y][x] = n.get(step * 16 + y, col0 + x * 4);
        __syncthreads();
        for (int q = 0; q < 16; q++) {
            const float a0 = ms[y][q / 4].f[q % 4];
            const float a1 = ms[y + 16][q / 4].f[q % 4];
            const Vec b = ns[q][x];
            for (int c = 0; c < 4; c++) {
                s[0][c] += a0 * b.f[c];
                s[1][c] += a1 * b.f[c];
            }
        }
        __syncthreads();
    }

    for (int half = 0; half < 2; half++) {
        const int row = row0 + y + half * 16, col = col0 + x * 4;
        if (row >= m.h) continue;
        if (n.w % 4 == 0) {
            if (col < n.w) *(float4 *)&p[(size_t)row * n.w + col] = make_float4(s[half][0], s[half][1], s[half][2], s[half][3]);
        } else {
            for (int c = 0; c < 4; c++)
                if (col + c < n.w) p[(size_t)row * n.w + col + c] = s[half][c];
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    Mat m = {M, j, k}, n = {N, k, l};
    unionKernel<<<dim3((l + 63) / 64, (j + 31) / 32), 256>>>(m, n, P);
    CHECK(cudaGetLastError());
}
