// Lab 04, ping-pong buffers like a DMA driver: one barrier per round
#include "check.h"
#include <stdint.h>

enum { SHIFT = 4, SIDE = 1 << SHIFT, MASK = SIDE - 1 };

typedef struct {
  const float *base;
  uint32_t nrow, ncol;
} port_t;

__device__ static inline float read_port(port_t p, uint32_t r, uint32_t c) {
  if (r >= p.nrow || c >= p.ncol) return 0.0f;
  return p.base[(uint64_t)r * p.ncol + c];
}

__global__ void pingpong(port_t m, port_t n, float *dst) {
  __shared__ float bufM[2][SIDE][SIDE];
  __shared__ float bufN[2][SIDE][SIDE];

  const uint32_t id = threadIdx.x;
  const uint32_t lo = id & MASK, hi = id >> SHIFT;
  const uint32_t r = (blockIdx.y << SHIFT) | hi;
  const uint32_t c = (blockIdx.x << SHIFT) | lo;
  const uint32_t depth = m.ncol;

  uint32_t cur = 0;
  bufM[cur][hi][lo] = read_port(m, r, lo);
  bufN[cur][hi][lo] = read_port(n, hi, c);

  float acc = 0.0f;
  for (uint32_t pos = 0; pos < depth; pos += SIDE) {
    __syncthreads();
    const uint32_t nxt = cur ^ 1u;
    const uint32_t ahead = pos + SIDE;
    if (ahead < depth) {
      bufM[nxt][hi][lo] = read_port(m, r, ahead + lo);
      bufN[nxt][hi][lo] = read_port(n, ahead + hi, c);
    }
    for (uint32_t t = 0; t < SIDE; t++) {
      acc += bufM[cur][hi][t] * bufN[cur][t][lo];
    }
    cur = nxt;
  }

  if (r < m.nrow && c < n.ncol) dst[(uint64_t)r * n.ncol + c] = acc;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  port_t m = {M, (uint32_t)j, (uint32_t)k};
  port_t n = {N, (uint32_t)k, (uint32_t)l};
  dim3 grid;
  grid.x = (l + MASK) >> SHIFT;
  grid.y = (j + MASK) >> SHIFT;
  pingpong<<<grid, SIDE * SIDE>>>(m, n, P);
  CHECK(cudaGetLastError());
}
