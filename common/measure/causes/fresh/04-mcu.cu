// Lab 04 - style of our embedded team: fixed-width types, flat buffers, masks.
#include <stdint.h>
#include "check.h"

#define SHIFT 4u
#define EDGE (1u << SHIFT)
#define MASK (EDGE - 1u)

typedef struct {
  uint32_t j, k, l;
} dims_t;

__global__ void mul(const float *__restrict__ m, const float *__restrict__ n, float *p, dims_t d)
{
  __shared__ float sm[EDGE * EDGE];
  __shared__ float sn[EDGE * EDGE];

  const uint32_t t = threadIdx.x;
  const uint32_t hi = t >> SHIFT;
  const uint32_t lo = t & MASK;
  const uint32_t r = (blockIdx.y << SHIFT) | hi;
  const uint32_t c = (blockIdx.x << SHIFT) | lo;

  uint32_t todo = (d.k + MASK) >> SHIFT;
  uint32_t mk = lo;
  uint32_t nk = hi;
  uint64_t mi = (uint64_t)r * d.k + lo;
  uint64_t ni = (uint64_t)hi * d.l + c;
  float acc = 0.0f;

  while (todo != 0u) {
    float vm = 0.0f;
    float vn = 0.0f;
    if ((r < d.j) && (mk < d.k)) vm = m[mi];
    if ((c < d.l) && (nk < d.k)) vn = n[ni];
    sm[t] = vm;
    sn[t] = vn;
    __syncthreads();

    for (uint32_t i = 0u; i < EDGE; i++) {
      acc += sm[(hi << SHIFT) + i] * sn[(i << SHIFT) + lo];
    }
    __syncthreads();

    mk += EDGE;
    nk += EDGE;
    mi += EDGE;
    ni += (uint64_t)EDGE * d.l;
    todo--;
  }

  if ((r < d.j) && (c < d.l)) {
    p[(uint64_t)r * d.l + c] = acc;
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
  dims_t d = {(uint32_t)j, (uint32_t)k, (uint32_t)l};
  const uint32_t gx = (d.l + MASK) >> SHIFT;
  const uint32_t gy = (d.j + MASK) >> SHIFT;
  mul<<<dim3(gx, gy), EDGE * EDGE>>>(M, N, P, d);
  CHECK(cudaGetLastError());
}
