/* lab03.c(u) -- T. Lindqvist. Tiles are 16 x 16, so divisions are shifts. */
#include <cuda_runtime.h>
#include <stdint.h>
#include "check.h"

typedef uint32_t u32;
typedef int32_t s32;
typedef float f32;

enum { TS_SHIFT = 4, TS = 1 << TS_SHIFT, TS_MASK = TS - 1 };

__global__ void mat_mul(const f32 *src_a, const f32 *src_b, f32 *dst, u32 n)
{
    __shared__ f32 buf_a[TS][TS];
    __shared__ f32 buf_b[TS][TS];

    const u32 x = threadIdx.x & TS_MASK;
    const u32 y = threadIdx.x >> TS_SHIFT;
    const u32 gx = (blockIdx.x << TS_SHIFT) | x;
    const u32 gy = (blockIdx.y << TS_SHIFT) | y;

    const f32 *rd_a = src_a + gy * n + x;   /* walks to the right */
    const f32 *rd_b = src_b + y * n + gx;   /* walks down */
    s32 left = (s32)n;                      /* steps that are still to do */
    f32 acc = 0.0f;

    do {
        f32 va = 0.0f, vb = 0.0f;
        if (gy < n && (s32)x < left)
            va = *rd_a;
        if (gx < n && (s32)y < left)
            vb = *rd_b;
        buf_a[y][x] = va;
        buf_b[y][x] = vb;
        __syncthreads();

        u32 steps = left < TS ? left : TS;
        for (u32 s = 0; s < steps; ++s)
            acc += buf_a[y][s] * buf_b[s][x];
        __syncthreads();

        rd_a += TS;
        rd_b += TS * n;
        left -= TS;
    } while (left > 0);

    if (gx < n && gy < n)
        dst[gy * n + gx] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    u32 tiles = ((u32)width + TS_MASK) >> TS_SHIFT;
    dim3 grid(tiles, tiles);

    mat_mul<<<grid, TS * TS>>>(M, N, P, (u32)width);
    CHECK(cudaGetLastError());
}
