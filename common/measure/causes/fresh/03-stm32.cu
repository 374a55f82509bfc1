// Lab 03. From firmware: fixed-width types, flat buffers, no 2D arrays, shared memory at launch.
#include <stdint.h>
#include "check.h"

#define EDGE_LOG2 4u
#define EDGE (1u << EDGE_LOG2)
#define EDGE_MASK (EDGE - 1u)
#define AREA (EDGE * EDGE)

extern __shared__ float g_scratch[];

__device__ static inline uint32_t u_min(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Reads a cell with saturated indices; cells beyond the edge read as zero.
__device__ static float rd(const float* src, uint32_t dim, uint32_t r, uint32_t c) {
  const uint32_t last = dim - 1u;
  const float raw = src[u_min(r, last) * dim + u_min(c, last)];
  return (r > last || c > last) ? 0.0f : raw;
}

__global__ void mul_isr(const float* M, const float* N, float* P, uint32_t dim) {
  float* const bufM = g_scratch;
  float* const bufN = g_scratch + AREA;
  const uint32_t id = threadIdx.x;
  const uint32_t ly = id >> EDGE_LOG2;
  const uint32_t lx = id & EDGE_MASK;
  const uint32_t gy = (blockIdx.y << EDGE_LOG2) | ly;
  const uint32_t gx = (blockIdx.x << EDGE_LOG2) | lx;

  float acc = 0.0f;
  uint32_t base = 0u;
  do {
    bufM[id] = rd(M, dim, gy, base + lx);
    bufN[id] = rd(N, dim, base + ly, gx);
    __syncthreads();
    const float* pm = &bufM[ly << EDGE_LOG2];
    const float* pn = &bufN[lx];
    for (uint32_t n = EDGE; n != 0u; --n) {
      acc += *pm * *pn;
      pm += 1u;
      pn += EDGE;
    }
    __syncthreads();
    base += EDGE;
  } while (base < dim);

  if (gy < dim && gx < dim) {
    P[gy * dim + gx] = acc;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const uint32_t dim = (uint32_t)width;
  const uint32_t nblk = (dim + EDGE_MASK) >> EDGE_LOG2;
  const size_t shmem = 2u * AREA * sizeof(float);
  const dim3 grid(nblk, nblk);
  mul_isr<<<grid, AREA, shmem>>>(M, N, P, dim);
  CHECK(cudaGetLastError());
}
