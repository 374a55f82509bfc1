#include "check.h"

#define T 32

typedef float tile_t[T][T];

/* The block starts at the left edge of M and the upper edge of N and walks. */
__global__ void walk(const float *m, const float *n, float *p, int w)
{
    extern __shared__ float mem[];
    tile_t &ms = *(tile_t *)mem;
    tile_t &ns = *(tile_t *)(mem + T * T);

    unsigned x = threadIdx.x, y = threadIdx.y;

    const float *mp = m + (blockIdx.y * T + y) * w + x;
    const float *np = n + y * w + blockIdx.x * T + x;
    const float *end = mp + w;
    float s = 0;

    do {
        ms[y][x] = *mp;
        ns[y][x] = *np;
        mp += T;
        np += T * w;
        __syncthreads();

#pragma unroll
        for (unsigned q = 0; q < T; ++q)
            s += ms[y][q] * ns[q][x];

        __syncthreads();
    } while (mp < end);

    p[(blockIdx.y * T + y) * w + blockIdx.x * T + x] = s;
}

void solve(const float *M, const float *N, float *P, int width)
{
    dim3 b, g;
    size_t shared_bytes = 2 * sizeof(tile_t);
    b.x = b.y = T;
    g.x = g.y = width / T;
    walk<<<g, b, shared_bytes>>>(M, N, P, width);
    CHECK(cudaPeekAtLastError());
}
