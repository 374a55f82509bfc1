// 02: shared memory. Firmware habits: flat buffers, one thread number, pointers that walk.
#include <cstdint>
#include "check.h"

#define TILE_WIDTH 16
#define LOG2_T 4
#define TMASK (TILE_WIDTH - 1)
#define NTHR (TILE_WIDTH * TILE_WIDTH)

typedef struct {
  float a[NTHR];
  float b[NTHR];
} scratch_t;

__global__ void mm(const float *__restrict__ A, const float *__restrict__ B, float *C, int width)
{
    __shared__ scratch_t s;

    const uint32_t id = threadIdx.x;
    const uint32_t lo = id & TMASK;
    const uint32_t hi = id >> LOG2_T;

    const float *pa = A + (blockIdx.y * TILE_WIDTH + hi) * width + lo;
    const float *pb = B + hi * width + blockIdx.x * TILE_WIDTH + lo;
    const float *const end = pa + width;

    float acc = 0;
    do {
        s.a[id] = *pa;
        s.b[id] = *pb;
        pa += TILE_WIDTH;
        pb += TILE_WIDTH * width;
        __syncthreads();

        const float *x = s.a + (hi << LOG2_T);
        const float *y = s.b + lo;
        for (uint32_t n = TILE_WIDTH; n--; y += TILE_WIDTH)
            acc += *x++ * *y;
        __syncthreads();
    } while (pa < end);

    const uint32_t r = (blockIdx.y << LOG2_T) | hi;
    const uint32_t c = (blockIdx.x << LOG2_T) | lo;
    C[r * width + c] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    dim3 grid;
    grid.x = width >> LOG2_T;
    grid.y = width >> LOG2_T;
    mm<<<grid, NTHR>>>(M, N, P, width);
    CHECK(cudaGetLastError());
}
