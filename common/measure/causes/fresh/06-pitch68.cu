// Lab 06. A warp loads 8 columns of 4 rows: then rows of 68 words fill all banks, since 4 * i + r
// takes each of 32 values once. (embedded: flat arrays, shifts and masks, macros)
#include <stdint.h>

#include "check.h"

#define LOG_K 3
#define KD (1 << LOG_K)          /* depth of a phase */
#define SQ 64                    /* side of the block's part of P */
#define PITCH (SQ + 4)           /* words per row of the left tile */
#define NTHR 256
#define LEFT(i, r) left[(i) * PITCH + (r)]
#define RIGHT(i, c) right[((i) << 6) | (c)]

static __device__ float fetch(const float* p, uint32_t r, uint32_t c, uint32_t nr, uint32_t nc) {
  if (r >= nr || c >= nc) return 0.0f;
  return p[(uint64_t)r * nc + c];
}

__global__ void __launch_bounds__(NTHR)
k06(const float* M, const float* N, float* P, uint32_t nj, uint32_t nk, uint32_t nl) {
  __shared__ __align__(16) float left[KD * PITCH];
  __shared__ float right[KD * SQ];

  const uint32_t id = threadIdx.x;
  const uint32_t hi = id >> 4, lo = id & 15u;
  const uint32_t r0 = blockIdx.y * SQ, c0 = blockIdx.x * SQ;
  float acc[4][4];
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) acc[a][b] = 0.0f;

  uint32_t base = 0;
  while (base < nk) {
    for (uint32_t e = id; e < SQ * KD; e += NTHR) {
      const uint32_t r = e >> LOG_K, i = e & (KD - 1);
      LEFT(i, r) = fetch(M, r0 + r, base + i, nj, nk);
    }
    for (uint32_t e = id; e < KD * SQ; e += NTHR) {
      const uint32_t i = e >> 6, c = e & 63u;
      RIGHT(i, c) = fetch(N, base + i, c0 + c, nk, nl);
    }
    __syncthreads();

    for (int i = 0; i < KD; i++) {
      const float4 q = *(const float4*)&LEFT(i, hi * 4);
      const float m[4] = {q.x, q.y, q.z, q.w};
      for (int b = 0; b < 4; b++) {
        const float n = RIGHT(i, lo + 16 * b);
        for (int a = 0; a < 4; a++) acc[a][b] += m[a] * n;
      }
    }
    __syncthreads();
    base += KD;
  }

  for (int a = 0; a < 4; a++) {
    const uint32_t r = r0 + hi * 4 + a;
    for (int b = 0; b < 4; b++) {
      const uint32_t c = c0 + lo + 16 * b;
      if (r < nj && c < nl) P[(uint64_t)r * nl + c] = acc[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 g;
  g.x = ((uint32_t)l + SQ - 1) / SQ;
  g.y = ((uint32_t)j + SQ - 1) / SQ;
  k06<<<g, NTHR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
