/* Lab 05: register tiling. Everything static, everything known at compile time. */
#include <stdint.h>

#include "check.h"

#define TILE_R 64u
#define TILE_C 64u
#define DEPTH 8u
#define ACC_R 4u
#define ACC_C 4u
#define COLS_OF_THREADS (TILE_C / ACC_C)
#define NTHREADS (TILE_R * TILE_C / (ACC_R * ACC_C))
#define UDIV_CEIL(a, b) (((a) + (b) - 1u) / (b))

typedef uint32_t u32;

static __device__ __forceinline__ void mac_4x4(float acc[ACC_R][ACC_C], const float *a,
                                               const float *b)
{
    float ra[ACC_R], rb[ACC_C];
    for (u32 i = 0; i < ACC_R; i++) ra[i] = a[i];
    for (u32 i = 0; i < ACC_C; i++) rb[i] = b[i * COLS_OF_THREADS];
    for (u32 i = 0; i < ACC_R; i++)
        for (u32 q = 0; q < ACC_C; q++)
            acc[i][q] += ra[i] * rb[q];
}

__global__ void __launch_bounds__(NTHREADS)
gemm(const float *m, const float *n, float *p, u32 rows, u32 inner, u32 cols)
{
    __shared__ float buf_m[DEPTH][TILE_R];
    __shared__ float buf_n[DEPTH][TILE_C];
    const u32 tid = threadIdx.x;
    const u32 tr = tid / COLS_OF_THREADS;
    const u32 tc = tid % COLS_OF_THREADS;
    const u32 base_r = blockIdx.y * TILE_R;
    const u32 base_c = blockIdx.x * TILE_C;
    float acc[ACC_R][ACC_C] = {{0}};

    for (u32 at = 0; at < inner; at += DEPTH) {
        for (u32 w = tid; w < TILE_R * DEPTH; w += NTHREADS) {
            const u32 r = w / DEPTH, d = w % DEPTH;
            float v = 0.0f;
            if (base_r + r < rows && at + d < inner)
                v = m[(uint64_t)(base_r + r) * inner + at + d];
            buf_m[d][r] = v;
        }
        for (u32 w = tid; w < TILE_C * DEPTH; w += NTHREADS) {
            const u32 d = w / TILE_C, c = w % TILE_C;
            float v = 0.0f;
            if (at + d < inner && base_c + c < cols)
                v = n[(uint64_t)(at + d) * cols + base_c + c];
            buf_n[d][c] = v;
        }
        __syncthreads();
        for (u32 d = 0; d < DEPTH; d++)
            mac_4x4(acc, &buf_m[d][tr * ACC_R], &buf_n[d][tc]);
        __syncthreads();
    }

    for (u32 i = 0; i < ACC_R; i++) {
        const u32 r = base_r + tr * ACC_R + i;
        if (r >= rows) break;
        for (u32 q = 0; q < ACC_C; q++) {
            const u32 c = base_c + tc + q * COLS_OF_THREADS;
            if (c < cols) p[(uint64_t)r * cols + c] = acc[i][q];
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    const dim3 grid(UDIV_CEIL((u32)l, TILE_C), UDIV_CEIL((u32)j, TILE_R));
    gemm<<<grid, NTHREADS>>>(M, N, P, (u32)j, (u32)k, (u32)l);
    CHECK(cudaGetLastError());
}
