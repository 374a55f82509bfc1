// boundary checks, with the next tile fetched into registers while this one is used
#include "check.h"
#include <stdint.h>

enum { EDGE = 16, EDGE_LOG2 = 4, EDGE_MASK = EDGE - 1 };

static inline __device__ float ld(const float *base, uint32_t r, uint32_t c, uint32_t n)
{
    return (r < n && c < n) ? base[r * n + c] : 0.0f;
}

__global__ void mm_u32(const float *m, const float *n, float *p, uint32_t w)
{
    __shared__ float sm[EDGE][EDGE], sn[EDGE][EDGE];

    const uint32_t tid = threadIdx.x;
    const uint32_t c = tid & EDGE_MASK;
    const uint32_t r = tid >> EDGE_LOG2;
    const uint32_t row = (blockIdx.y << EDGE_LOG2) + r;
    const uint32_t col = (blockIdx.x << EDGE_LOG2) + c;

    float acc = 0.0f;
    float next_m = ld(m, row, c, w);
    float next_n = ld(n, r, col, w);

    for (uint32_t pos = 0; pos < w; pos += EDGE) {
        sm[r][c] = next_m;
        sn[r][c] = next_n;
        __syncthreads();

        const uint32_t ahead = pos + EDGE;
        if (ahead < w) {
            next_m = ld(m, row, ahead + c, w);
            next_n = ld(n, ahead + r, col, w);
        }

        for (uint32_t i = 0; i < EDGE; i++)
            acc += sm[r][i] * sn[i][c];
        __syncthreads();
    }

    if (row < w && col < w)
        p[row * w + col] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    const uint32_t w = (uint32_t)width;
    const uint32_t per_side = (w + EDGE_MASK) >> EDGE_LOG2;
    const dim3 grid(per_side, per_side, 1);
    const dim3 block(EDGE * EDGE, 1, 1);

    mm_u32<<<grid, block>>>(M, N, P, w);
    CHECK(cudaGetLastError());
}
