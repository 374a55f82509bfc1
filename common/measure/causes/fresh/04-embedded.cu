/* Lab 04 - fixed-width types everywhere, as at work. */
#include <stdint.h>
#include "check.h"

typedef struct {
    const float *base;
    int32_t rows;
    int32_t cols;
} view_t;

enum { EDGE = 16, EDGE_MASK = EDGE - 1, EDGE_SHIFT = 4 };

/* returns 0 for everything beyond the edges */
static __device__ __forceinline__ float view_read(const view_t *v, int32_t r, int32_t c)
{
    int64_t offset;

    if (r >= v->rows)
        return 0.0f;
    if (c >= v->cols)
        return 0.0f;
    offset = (int64_t)r * v->cols + c;
    return v->base[offset];
}

static __global__ void rect_mul(view_t m, view_t n, float *out)
{
    __shared__ float bufM[EDGE * EDGE];
    __shared__ float bufN[EDGE * EDGE];

    const int32_t slot = threadIdx.x;            /* 0..255 */
    const int32_t dr = slot >> EDGE_SHIFT;       /* row in the buffers */
    const int32_t dc = slot & EDGE_MASK;         /* column in the buffers */
    const int32_t r = (int32_t)(blockIdx.y << EDGE_SHIFT) + dr;
    const int32_t c = (int32_t)(blockIdx.x << EDGE_SHIFT) + dc;

    float acc = 0.0f;
    int32_t pos = 0;

    while (pos < m.cols) {
        bufM[slot] = view_read(&m, r, pos + dc);
        bufN[slot] = view_read(&n, pos + dr, c);
        __syncthreads();

        const float *pm = bufM + (dr << EDGE_SHIFT);
        const float *pn = bufN + dc;
        for (int32_t left = EDGE; left > 0; --left) {
            acc += *pm * *pn;
            pm += 1;
            pn += EDGE;
        }
        __syncthreads();

        pos += EDGE;
    }

    if (r < m.rows && c < n.cols)
        out[(int64_t)r * n.cols + c] = acc;
}

static uint32_t blocks_for(int32_t extent)
{
    return ((uint32_t)extent + EDGE_MASK) >> EDGE_SHIFT;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    const view_t m = { M, j, k };
    const view_t n = { N, k, l };
    const dim3 grid(blocks_for(l), blocks_for(j));

    rect_mul<<<grid, EDGE * EDGE>>>(m, n, P);
    CHECK(cudaGetLastError());
}
