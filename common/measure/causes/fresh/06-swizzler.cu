// Lab 06: no padding. A warp loads 8 columns of 4 rows, and the words of a row are permuted.
#include "check.h"

constexpr int TILE = 64, K_STEP = 16, SIDE = 16, PER = TILE / SIDE;

// Where element (i, r) of the transposed tile of M lies.
__device__ constexpr int spot(int i, int r) {
  return i * TILE + (r ^ (i % 8 * 4));
}

__device__ float take(const float* A, int rows, int cols, int row, int col) {
  return row < rows && col < cols ? A[size_t(row) * cols + col] : 0.0f;
}

__global__ void swizzled_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) float a[K_STEP * TILE];
  __shared__ alignas(16) float b[K_STEP * TILE];
  int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;

  float sum[PER][PER] = {};
  for (int k0 = 0; k0 < k; k0 += K_STEP) {
    // tile of M: 16 groups of 4 rows, two groups per warp; left half of the columns, then right
    for (int part = 0; part < 4; ++part) {
      int r = (warp * 2 + part / 2) * 4 + lane / 8;
      int i = part % 2 * 8 + lane % 8;
      a[spot(i, r)] = take(M, j, k, row0 + r, k0 + i);
    }
    // tile of N: four rows at a time, as they lie in memory
    for (int e = threadIdx.x; e < K_STEP * TILE; e += SIDE * SIDE) {
      b[e] = take(N, k, l, k0 + e / TILE, col0 + e % TILE);
    }
    __syncthreads();

    for (int i = 0; i < K_STEP; ++i) {
      float4 m = *reinterpret_cast<const float4*>(&a[spot(i, ty * PER)]);
      const float mr[PER] = {m.x, m.y, m.z, m.w};
      for (int c = 0; c < PER; ++c) {
        float n = b[i * TILE + tx + c * SIDE];
        for (int r = 0; r < PER; ++r) sum[r][c] += mr[r] * n;
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < PER; ++r) {
    int row = row0 + ty * PER + r;
    if (row >= j) return;
    for (int c = 0; c < PER; ++c) {
      int col = col0 + tx + c * SIDE;
      if (col < l) P[size_t(row) * l + col] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = (l + TILE - 1) / TILE;
  grid.y = (j + TILE - 1) / TILE;
  swizzled_kernel<<<grid, SIDE * SIDE>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
