// Tiled product, flat arrays and one-dimensional blocks (I come from microcontrollers).
#include <stdint.h>

#include "check.h"

#define SHIFT 4u
#define SIDE (1u << SHIFT)
#define MASK (SIDE - 1u)
#define CELLS (SIDE * SIDE)

static __device__ float dot(const float *x, const float *y)
{
    float s = 0.0f;
#pragma unroll
    for (uint32_t n = 0; n < SIDE; n++)
        s += x[n] * y[n << SHIFT];
    return s;
}

__global__ void tiled(const float *M, const float *N, float *P, uint32_t width)
{
    __shared__ float buf_a[CELLS];
    __shared__ float buf_b[CELLS];

    const uint32_t id = threadIdx.x;
    const uint32_t lo = id & MASK;   /* column in the tile */
    const uint32_t hi = id >> SHIFT; /* row in the tile */
    const uint32_t y = (blockIdx.y << SHIFT) + hi;
    const uint32_t x = (blockIdx.x << SHIFT) + lo;

    const float *src_a = M + y * width + lo;
    const float *src_b = N + hi * width + x;
    float total = 0.0f;
    uint32_t left = width >> SHIFT;

    while (left--) {
        buf_a[id] = *src_a;
        buf_b[id] = *src_b;
        src_a += SIDE;
        src_b += SIDE * width;
        __syncthreads();
        total += dot(buf_a + (hi << SHIFT), buf_b + lo);
        __syncthreads();
    }
    P[y * width + x] = total;
}

void solve(const float *M, const float *N, float *P, int width)
{
    const uint32_t n = (uint32_t)width >> SHIFT;
    tiled<<<dim3(n, n), CELLS>>>(M, N, P, (uint32_t)width);
    CHECK(cudaGetLastError());
}
