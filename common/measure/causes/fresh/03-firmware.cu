/* lab 03, J. Okafor. Style guide of my firmware team: macros, unsigned, no ternaries. */
#include <stdint.h>

#include "check.h"

#define EDGE            16u
#define DIV_UP(n, d)    (((n) + (d) - 1u) / (d))
#define IN_RANGE(v, n)  ((v) < (n))

static __device__ float fetch(const float *buf, uint32_t y, uint32_t x, uint32_t n)
{
    float v = 0.0f;
    if (IN_RANGE(y, n) && IN_RANGE(x, n)) {
        v = buf[y * n + x];
    }
    return v;
}

static __global__ void mul_edge(const float *m, const float *n, float *p, uint32_t size)
{
    __shared__ float buf_m[EDGE][EDGE];
    __shared__ float buf_n[EDGE][EDGE];
    const uint32_t lx = threadIdx.x;
    const uint32_t ly = threadIdx.y;
    const uint32_t gx = blockIdx.x * EDGE + lx;
    const uint32_t gy = blockIdx.y * EDGE + ly;
    uint32_t base = 0u;
    uint32_t todo = size;
    float acc = 0.0f;

    do {
        uint32_t i;
        uint32_t steps = EDGE;

        if (todo < EDGE) {
            steps = todo;       /* the last pair of tiles is narrower */
        }
        buf_m[ly][lx] = fetch(m, gy, base + lx, size);
        buf_n[ly][lx] = fetch(n, base + ly, gx, size);
        __syncthreads();
        for (i = 0u; i < steps; i++) {
            acc += buf_m[ly][i] * buf_n[i][lx];
        }
        __syncthreads();
        base += EDGE;
        todo -= steps;
    } while (todo > 0u);

    if (IN_RANGE(gy, size) && IN_RANGE(gx, size)) {
        p[gy * size + gx] = acc;
    }
}

void solve(const float *M, const float *N, float *P, int width)
{
    const uint32_t size = (uint32_t)width;
    dim3 threads;
    dim3 blocks;

    threads.x = EDGE;
    threads.y = EDGE;
    blocks.x = DIV_UP(size, EDGE);
    blocks.y = DIV_UP(size, EDGE);
    mul_edge<<<blocks, threads>>>(M, N, P, size);
    CHECK(cudaGetLastError());
}
