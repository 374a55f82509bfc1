// Lab 06: no padding but a swizzle. Row i of the transposed tile is permuted with x -> x ^ 2i.
#include "check.h"

using uint = unsigned int;

constexpr uint TILE = 64u, DEEP = 16u, PER = 4u, SIDE = TILE / PER, ALL = SIDE * SIDE;

// place of (i, r) in the tile of M: the 16 values of i go to 16 different even offsets
__device__ inline uint place(uint i, uint r) { return i * TILE + (r ^ (i << 1)); }

__global__ void swizzled(const float* M, const float* N, float* P, uint j, uint k, uint l) {
  __shared__ float mt[DEEP * TILE];
  __shared__ float nt[DEEP * TILE];

  const uint me = threadIdx.y * SIDE + threadIdx.x;
  const uint r0 = blockIdx.y * TILE, c0 = blockIdx.x * TILE;

  float p00[PER][PER];
  for (uint a = 0; a < PER; a++)
    for (uint b = 0; b < PER; b++) p00[a][b] = 0.0f;

  for (uint k0 = 0; k0 < k; k0 += DEEP) {
    for (uint turn = 0; turn < TILE * DEEP / ALL; turn++) {
      uint e = turn * ALL + me;
      uint r = e >> 4, i = e & 15u;
      float value = 0.0f;
      if (r0 + r < j && k0 + i < k) value = M[(size_t)(r0 + r) * k + k0 + i];
      mt[place(i, r)] = value;
    }
    for (uint turn = 0; turn < TILE * DEEP / ALL; turn++) {
      uint e = turn * ALL + me;
      uint i = e >> 6, c = e & 63u;
      float value = 0.0f;
      if (k0 + i < k && c0 + c < l) value = N[(size_t)(k0 + i) * l + c0 + c];
      nt[e] = value;
    }
    __syncthreads();

#pragma unroll
    for (uint i = 0; i < DEEP; i++) {
      float n[PER];
      for (uint b = 0; b < PER; b++) n[b] = nt[i * TILE + b * SIDE + threadIdx.x];
      for (uint a = 0; a < PER; a++) {
        float m = mt[place(i, threadIdx.y * PER + a)];
        for (uint b = 0; b < PER; b++) p00[a][b] += m * n[b];
      }
    }
    __syncthreads();
  }

  for (uint a = 0; a < PER; a++) {
    uint r = r0 + threadIdx.y * PER + a;
    if (r >= j) continue;
    float* line = P + (size_t)r * l;
    for (uint b = 0; b < PER; b++) {
      uint c = c0 + b * SIDE + threadIdx.x;
      if (c < l) line[c] = p00[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  swizzled<<<grid, dim3(SIDE, SIDE)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
