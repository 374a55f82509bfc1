#include <stdint.h>

#include "check.h"

#define LOG2_TILE 4u
#define TILE (1u << LOG2_TILE)
#define TILE_MASK (TILE - 1u)
#define TILE_WORDS (TILE * TILE)

/* scratch[0 .. 255]: tile of M, scratch[256 .. 511]: tile of N */
__global__ void mm_isr(const float *m, const float *n, float *p, uint32_t dim)
{
    __shared__ float scratch[2u * TILE_WORDS];
    float *const sm = scratch;
    float *const sn = scratch + TILE_WORDS;

    const uint32_t id = threadIdx.x;
    const uint32_t tr = id >> LOG2_TILE;
    const uint32_t tc = id & TILE_MASK;
    const uint32_t gr = (blockIdx.y << LOG2_TILE) | tr;
    const uint32_t gc = (blockIdx.x << LOG2_TILE) | tc;

    float acc = 0.0f;
    uint32_t left = dim;            /* columns of M still to be done */
    const float *pm = m + gr * dim + tc;
    const float *pn = n + tr * dim + gc;

    for (;;) {
        sm[id] = 0.0f;
        if (gr < dim && tc < left) {
            sm[id] = *pm;
        }
        sn[id] = 0.0f;
        if (tr < left && gc < dim) {
            sn[id] = *pn;
        }
        __syncthreads();

        uint32_t a = tr << LOG2_TILE;
        for (uint32_t b = tc; b < TILE_WORDS; b += TILE) {
            acc += sm[a++] * sn[b];
        }

        if (left <= TILE) {
            break;
        }
        left -= TILE;
        pm += TILE;
        pn += TILE * dim;
        __syncthreads();
    }

    if (gr < dim && gc < dim) {
        p[gr * dim + gc] = acc;
    }
}

void solve(const float *M, const float *N, float *P, int width)
{
    const uint32_t dim = (uint32_t)width;
    const uint32_t blk = (dim + TILE_MASK) >> LOG2_TILE;
    dim3 grid(blk, blk, 1u);

    mm_isr<<<grid, TILE_WORDS>>>(M, N, P, dim);
    CHECK(cudaGetLastError());
}
