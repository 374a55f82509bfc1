/* Lab 02. Flat thread numbers, flat buffers, walking pointers: as on a microcontroller. */
#include <stdint.h>
#include "check.h"

#define SHIFT 4u
#define SIDE (1u << SHIFT)
#define MASK (SIDE - 1u)
#define AREA (SIDE * SIDE)

static __device__ inline float mac_row(const float* a, const float* b) {
  float acc = 0.0f;
  const float* const end = a + SIDE;
  do {
    acc += *a++ * *b;
    b += SIDE;
  } while (a != end);
  return acc;
}

__global__ void mm_tile(const float* m, const float* n, float* p, int w) {
  __shared__ float buf_a[AREA];
  __shared__ float buf_b[AREA];

  const uint32_t id = threadIdx.x;
  const uint32_t lo = id & MASK;
  const uint32_t hi = id >> SHIFT;
  const uint32_t y = (blockIdx.y << SHIFT) | hi;
  const uint32_t x = (blockIdx.x << SHIFT) | lo;

  const float* src_a = m + y * w + lo;
  const float* src_b = n + hi * w + x;
  float acc = 0.0f;

  for (int left = w; left > 0; left -= SIDE) {
    buf_a[id] = *src_a;
    buf_b[id] = *src_b;
    src_a += SIDE;
    src_b += SIDE * w;
    __syncthreads();
    acc += mac_row(&buf_a[hi << SHIFT], &buf_b[lo]);
    __syncthreads();
  }
  p[y * w + x] = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  const uint32_t tiles = (uint32_t)width >> SHIFT;
  dim3 grid;
  grid.x = tiles;
  grid.y = tiles;
  mm_tile<<<grid, AREA>>>(M, N, P, width);
  cudaError_t rc = cudaGetLastError();
  CHECK(rc);
}
