/* Lab 04, embedded style: fixed-width types, macros, flat buffers, no templates. */
#include <stdint.h>
#include "check.h"

#define TW          16u
#define CEIL(n)     (((uint32_t)(n) + TW - 1u) / TW)
#define AT(r, c)    ((r) * TW + (c))

typedef struct {
  uint32_t j, k, l;
} dims_t;

static __device__ void load_tile(float *dst, const float *src, uint32_t rows, uint32_t cols,
                                 uint32_t r0, uint32_t c0) {
  const uint32_t r = r0 + threadIdx.y;
  const uint32_t c = c0 + threadIdx.x;
  float v = 0.0f;
  if ((r < rows) && (c < cols)) {
    v = src[(uint64_t)r * cols + c];
  }
  dst[AT(threadIdx.y, threadIdx.x)] = v;
}

static __device__ float mac_tile(const float *m, const float *n, float acc) {
  uint8_t i = 0u;
  for (; i < TW; i++) {
    acc += m[AT(threadIdx.y, i)] * n[AT(i, threadIdx.x)];
  }
  return acc;
}

__global__ void gemm_task(const float *m, const float *n, float *p, dims_t d) {
  __shared__ float buf[2u * TW * TW];
  float *const bm = &buf[0];
  float *const bn = &buf[TW * TW];
  const uint32_t r0 = blockIdx.y * TW;
  const uint32_t c0 = blockIdx.x * TW;
  const uint32_t last = CEIL(d.k);
  float acc = 0.0f;

  for (uint32_t step = 0u; step < last; step++) {
    load_tile(bm, m, d.j, d.k, r0, step * TW);
    load_tile(bn, n, d.k, d.l, step * TW, c0);
    __syncthreads();
    acc = mac_tile(bm, bn, acc);
    __syncthreads();
  }

  if (((r0 + threadIdx.y) < d.j) && ((c0 + threadIdx.x) < d.l)) {
    p[(uint64_t)(r0 + threadIdx.y) * d.l + (c0 + threadIdx.x)] = acc;
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  const dims_t d = {(uint32_t)j, (uint32_t)k, (uint32_t)l};
  dim3 grid;
  grid.x = CEIL(l);
  grid.y = CEIL(j);
  gemm_task<<<grid, dim3(TW, TW)>>>(M, N, P, d);
  CHECK(cudaGetLastError());
}
