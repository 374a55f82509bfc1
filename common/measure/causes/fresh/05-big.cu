// Lab 05: 128 x 128 per block, 8 x 8 per thread, 256 threads in a row.
#include "check.h"

#define BLK 128
#define DEPTH 8
#define PER 8
#define SIDE (BLK / PER)      // 16 x 16 threads
#define NTHR (SIDE * SIDE)

typedef unsigned int uint;

__global__ __launch_bounds__(NTHR) void sgemm128(const float* A, const float* B, float* C, int m,
                                                 int K, int n) {
  __shared__ float As[DEPTH][BLK];
  __shared__ float Bs[DEPTH][BLK];

  const int tid = threadIdx.x;
  const int rowBase = blockIdx.y * BLK;
  const int colBase = blockIdx.x * BLK;
  const int tr = tid / SIDE;
  const int tc = tid % SIDE;

  // who loads what: 8 lanes along a row of A, 128 lanes along a row of B
  const int ar = tid / DEPTH, ak = tid % DEPTH;
  const int bk = tid / BLK, bc = tid % BLK;

  float acc[PER][PER] = {{0.f}};
  float ra[PER], rb[PER];

  for (int k0 = 0; k0 < K; k0 += DEPTH) {
#pragma unroll
    for (int step = 0; step < BLK; step += NTHR / DEPTH) {
      const int gr = rowBase + ar + step;
      const int gk = k0 + ak;
      As[ak][ar + step] = (gr < m && gk < K) ? A[(size_t)gr * K + gk] : 0.f;
    }
#pragma unroll
    for (int step = 0; step < DEPTH; step += NTHR / BLK) {
      const int gk = k0 + bk + step;
      const int gc = colBase + bc;
      Bs[bk + step][bc] = (gk < K && gc < n) ? B[(size_t)gk * n + gc] : 0.f;
    }
    __syncthreads();

#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
      for (int i = 0; i < PER; ++i) ra[i] = As[d][tr * PER + i];
#pragma unroll
      for (int i = 0; i < PER; ++i) rb[i] = Bs[d][tc + i * SIDE];
#pragma unroll
      for (int i = 0; i < PER * PER; ++i) acc[i / PER][i % PER] += ra[i / PER] * rb[i % PER];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < PER; ++i) {
    const int gr = rowBase + tr * PER + i;
    if (gr >= m) break;
    float* line = C + (size_t)gr * n;
#pragma unroll
    for (int q = 0; q < PER; ++q) {
      const int gc = colBase + tc + q * SIDE;
      if (gc < n) line[gc] = acc[i][q];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 g;
  g.x = (uint)((l + BLK - 1) / BLK);
  g.y = (uint)((j + BLK - 1) / BLK);
  sgemm128<<<g, NTHR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
