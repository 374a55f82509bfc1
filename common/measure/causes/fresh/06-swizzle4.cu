// Lab 06 without padding: XOR addressing. A warp brings 8 columns of 4 rows of M.
#include "check.h"

typedef unsigned int uint;

const uint BLK = 64, DEP = 16, PT = 4, LANES = 32, NT = 256;

// Where column i, row r of the tile of M is kept. Four rows that belong together stay together.
__device__ __forceinline__ uint place(uint i, uint r) { return i * BLK + (r ^ ((i & 7u) << 2)); }

__global__ void xor_kernel(const float* M, const float* N, float* P, uint j, uint k, uint l) {
  __shared__ float sm[DEP * BLK];
  __shared__ float sn[DEP * BLK];

  const uint t = threadIdx.x;
  const uint lane = t % LANES, warp = t / LANES;
  const uint tx = t % 16u, ty = t / 16u;
  const uint r0 = blockIdx.y * BLK, c0 = blockIdx.x * BLK;
  const uint li = lane & 7u, lr = lane >> 3;  // this lane's column and row of an 8 x 4 patch

  float s[PT][PT] = {};
  for (uint base = 0; base < k; base += DEP) {
    // Each warp has 8 rows: two patches down, two across.
    for (uint q = 0; q < 4; ++q) {
      const uint r = warp * 8u + (q >> 1) * 4u + lr;
      const uint i = (q & 1u) * 8u + li;
      const bool ok = r0 + r < j && base + i < k;
      sm[place(i, r)] = ok ? M[size_t(r0 + r) * k + base + i] : 0.0f;
    }
    for (uint q = 0; q < 4; ++q) {
      const uint i = q * 4u + (t >> 6);
      const uint c = t & 63u;
      const bool ok = base + i < k && c0 + c < l;
      sn[i * BLK + c] = ok ? N[size_t(base + i) * l + c0 + c] : 0.0f;
    }
    __syncthreads();

#pragma unroll
    for (uint i = 0; i < DEP; ++i) {
      const float* four = sm + place(i, ty * PT);
      const float* row = sn + i * BLK;
      float b[PT];
#pragma unroll
      for (uint y = 0; y < PT; ++y) b[y] = row[tx + 16u * y];
#pragma unroll
      for (uint x = 0; x < PT; ++x) {
        const float a = four[x];
#pragma unroll
        for (uint y = 0; y < PT; ++y) s[x][y] = fmaf(a, b[y], s[x][y]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (uint x = 0; x < PT; ++x) {
#pragma unroll
    for (uint y = 0; y < PT; ++y) {
      const uint row = r0 + ty * PT + x, col = c0 + tx + 16u * y;
      if (row < j && col < l) P[size_t(row) * l + col] = s[x][y];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const uint gx = (uint(l) + BLK - 1) / BLK;
  const uint gy = (uint(j) + BLK - 1) / BLK;
  xor_kernel<<<dim3(gx, gy), NT>>>(M, N, P, uint(j), uint(k), uint(l));
  CHECK(cudaGetLastError());
}
