/*
 * matmul.c -- any width. No division, no fancy stuff.
 */
#include <stdint.h>
#include <assert.h>
#include <cuda_runtime.h>

#define TILE_SHIFT  4u
#define TILE_SIZE   (1u << TILE_SHIFT)
#define TILE_MASK   (TILE_SIZE - 1u)

#define FLAG_ROW_OK 0x1u
#define FLAG_COL_OK 0x2u
#define FLAG_BOTH   (FLAG_ROW_OK | FLAG_COL_OK)

__global__ void mat_mul(const float *pM, const float *pN, float *pP, uint32_t w)
{
    __shared__ float bufM[TILE_SIZE * TILE_SIZE];
    __shared__ float bufN[TILE_SIZE * TILE_SIZE];

    const uint32_t id  = threadIdx.x;               /* 0..255 */
    const uint32_t sub = id & TILE_MASK;            /* low nibble: column */
    const uint32_t top = id >> TILE_SHIFT;          /* high nibble: row */
    const uint32_t row = (blockIdx.y << TILE_SHIFT) | top;
    const uint32_t col = (blockIdx.x << TILE_SHIFT) | sub;

    uint32_t flags = 0u;
    if (row < w) flags |= FLAG_ROW_OK;
    if (col < w) flags |= FLAG_COL_OK;

    uint32_t offM = row * w + sub;
    uint32_t offN = top * w + col;
    int32_t left = (int32_t)w;                      /* steps still to do */
    float acc = 0.0f;

    for (; left > 0; left -= (int32_t)TILE_SIZE)
    {
        float a = 0.0f, b = 0.0f;
        if ((flags & FLAG_ROW_OK) && (int32_t)sub < left) a = pM[offM];
        if ((flags & FLAG_COL_OK) && (int32_t)top < left) b = pN[offN];
        bufM[id] = a;
        bufN[id] = b;
        offM += TILE_SIZE;
        offN += w << TILE_SHIFT;
        __syncthreads();

        for (uint32_t s = 0u; s < TILE_SIZE; ++s)
        {
            acc += bufM[(top << TILE_SHIFT) | s] * bufN[(s << TILE_SHIFT) | sub];
        }
        __syncthreads();
    }

    if ((flags & FLAG_BOTH) == FLAG_BOTH)
    {
        pP[row * w + col] = acc;
    }
}

void solve(const float *M, const float *N, float *P, int width)
{
    const uint32_t w = (uint32_t)width;
    const uint32_t nb = (w + TILE_MASK) >> TILE_SHIFT;
    const dim3 grid(nb, nb, 1u);
    mat_mul<<<grid, TILE_SIZE * TILE_SIZE>>>(M, N, P, w);
    const cudaError_t rc = cudaGetLastError();
    assert(rc == cudaSuccess);
    (void)rc;
}
