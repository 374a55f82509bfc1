// Lab 03, firmware style: two banks of buffers, used in turn, so one barrier per round is enough.
#include <stdint.h>

#include "check.h"

#define TW 16u
#define BANK_WORDS (TW * TW)
#define DIV_UP(x, y) (((x) + (y) - 1u) / (y))

typedef struct {
  float a[BANK_WORDS];
  float b[BANK_WORDS];
} bank_t;

static __device__ void fetch(bank_t *bank, const float *A, const float *B, uint32_t r, uint32_t c,
                             uint32_t k0, uint32_t n) {
  const uint32_t tx = threadIdx.x, ty = threadIdx.y;
  const uint32_t slot = ty * TW + tx;
  float va = 0.0f, vb = 0.0f;
  if ((r < n) && (k0 + tx < n)) {
    va = A[r * n + k0 + tx];
  }
  if ((c < n) && (k0 + ty < n)) {
    vb = B[(k0 + ty) * n + c];
  }
  bank->a[slot] = va;
  bank->b[slot] = vb;
}

__global__ void mac_kernel(const float *A, const float *B, float *C, uint32_t n) {
  __shared__ bank_t banks[2];
  const uint32_t c = blockIdx.x * TW + threadIdx.x;
  const uint32_t r = blockIdx.y * TW + threadIdx.y;
  uint32_t cur = 0u;
  float acc = 0.0f;

  fetch(&banks[cur], A, B, r, c, 0u, n);
  for (uint32_t k0 = 0u; k0 < n; k0 += TW) {
    __syncthreads();
    if (k0 + TW < n) {
      fetch(&banks[cur ^ 1u], A, B, r, c, k0 + TW, n);
    }
    const float *pa = &banks[cur].a[threadIdx.y * TW];
    const float *pb = &banks[cur].b[threadIdx.x];
    for (uint32_t i = 0u; i < TW; ++i) {
      acc += pa[i] * pb[i * TW];
    }
    cur ^= 1u;
  }

  if ((r < n) && (c < n)) {
    C[r * n + c] = acc;
  }
}

void solve(const float *M, const float *N, float *P, int width) {
  const uint32_t n = (uint32_t)width;
  const uint32_t side = DIV_UP(n, TW);
  dim3 grid, block;
  block.x = TW;
  block.y = TW;
  grid.x = side;
  grid.y = side;
  mac_kernel<<<grid, block>>>(M, N, P, n);
  CHECK(cudaGetLastError());
}
