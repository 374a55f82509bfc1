/* lab 03 -- embedded style: fixed-width types, walking pointers, no surprises */
#include <stdint.h>
#include "check.h"

#define TS      16u
#define TS_LOG2 4u

static inline uint32_t tiles_for(uint32_t n)
{
    return (n + (TS - 1u)) >> TS_LOG2;
}

__global__ void k_mm(const float *pM, const float *pN, float *pP, uint32_t n)
{
    __shared__ float bufM[TS * TS];
    __shared__ float bufN[TS * TS];

    const uint32_t lx = threadIdx.x & (TS - 1u);
    const uint32_t ly = threadIdx.x >> TS_LOG2;
    const uint32_t r = (blockIdx.y << TS_LOG2) | ly;
    const uint32_t c = (blockIdx.x << TS_LOG2) | lx;
    const bool row_ok = r < n;
    const bool col_ok = c < n;

    const float *src_m = pM + r * n + lx;   /* walks to the right */
    const float *src_n = pN + ly * n + c;   /* walks down */
    uint32_t left = n;                      /* columns of M not yet used */
    float acc = 0.0f;

    do {
        float vm = 0.0f;
        float vn = 0.0f;
        if (row_ok && lx < left) {
            vm = *src_m;
        }
        if (col_ok && ly < left) {
            vn = *src_n;
        }
        bufM[threadIdx.x] = vm;
        bufN[threadIdx.x] = vn;
        __syncthreads();

        const float *a = &bufM[ly << TS_LOG2];
        const float *b = &bufN[lx];
        for (uint32_t cnt = TS; cnt != 0u; cnt--) {
            acc += *a * *b;
            a += 1;
            b += TS;
        }
        __syncthreads();

        src_m += TS;
        src_n += TS * n;
        left = (left > TS) ? (left - TS) : 0u;
    } while (left != 0u);

    if (row_ok && col_ok) {
        pP[r * n + c] = acc;
    }
}

void solve(const float *M, const float *N, float *P, int width)
{
    const uint32_t n = (uint32_t)width;
    dim3 grid;
    grid.x = tiles_for(n);
    grid.y = tiles_for(n);
    k_mm<<<grid, TS * TS>>>(M, N, P, n);
    CHECK(cudaGetLastError());
}
