#include "check.h"

constexpr int BM = 64;
constexpr int BN = 64;
constexpr int BK = 16;
constexpr int TM = 4;
constexpr int TN = 4;
constexpr int NT = 256;

// Instead of padding: exclusive or.  Groups of four rows stay together.
__device__ int swz(int i, int r) { return r ^ (i << 2); }

__device__ void load_m(float (*tile)[BM], const float* M, int j, int k, int row0, int k0) {
  // A warp takes 4 rows x 8 columns of M; 8 warps take 32 rows x 8 columns; four turns.
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int turn = 0; turn < 4; ++turn) {
    const int r = (turn >> 1) * 32 + warp * 4 + (lane >> 3);
    const int i = (turn & 1) * 8 + (lane & 7);
    const int gr = row0 + r, gc = k0 + i;
    tile[i][swz(i, r)] = (gr < j && gc < k) ? M[(size_t)gr * k + gc] : 0.0f;
  }
}

__device__ void load_n(float (*tile)[BN], const float* N, int k, int l, int k0, int col0) {
  const int c = threadIdx.x & 63;
  const int gc = col0 + c;
  for (int i = threadIdx.x >> 6; i < BK; i += 4) {
    const int gr = k0 + i;
    tile[i][c] = (gr < k && gc < l) ? N[(size_t)gr * l + gc] : 0.0f;
  }
}

__global__ void __launch_bounds__(NT)
swizzled_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float tm[BK][BM];
  __shared__ float tn[BK][BN];
  const int tx = threadIdx.x & 15;
  const int ty = threadIdx.x >> 4;
  const int row0 = blockIdx.y * BM;
  const int col0 = blockIdx.x * BN;

  float acc[TM][TN];
  for (int r = 0; r < TM; ++r)
    for (int c = 0; c < TN; ++c) acc[r][c] = 0.0f;

  int k0 = 0;
  while (k0 < k) {
    load_m(tm, M, j, k, row0, k0);
    load_n(tn, N, k, l, k0, col0);
    __syncthreads();
    for (int i = 0; i < BK; ++i) {
      const float* mine = &tm[i][swz(i, ty * TM)];
      for (int c = 0; c < TN; ++c) {
        const float v = tn[i][tx + 16 * c];
        acc[0][c] += mine[0] * v;
        acc[1][c] += mine[1] * v;
        acc[2][c] += mine[2] * v;
        acc[3][c] += mine[3] * v;
      }
    }
    __syncthreads();
    k0 += BK;
  }

  for (int c = 0; c < TN; ++c) {
    const int col = col0 + tx + 16 * c;
    if (col >= l) continue;
    for (int r = 0; r < TM; ++r) {
      const int row = row0 + ty * TM + r;
      if (row < j) P[(size_t)row * l + col] = acc[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto tiles = [](int n, int t) { return (n + t - 1) / t; };
  const dim3 grid(tiles(l, BN), tiles(j, BM));
  swizzled_kernel<<<grid, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
