#include "check.h"
#include "copy_async.h"

// Two sets of tiles: while one is multiplied the other is fetched.
#define TILE 64
#define STEP 16

struct Tiles {
  float m[TILE][STEP + 4];
  float n[STEP][TILE];
};

struct Sizes {
  int j, k, l;
};

__device__ void fetch_quad(float* to, const float* a, int rows, int cols, int r, int c) {
  if (cols % 4 == 0) {
    const bool inside = r < rows && c < cols;
    copy_async<16>(to, inside ? a + (size_t)r * cols + c : a, inside);
  } else {
    for (int i = 0; i < 4; ++i) {
      const bool inside = r < rows && c + i < cols;
      copy_async<4>(to + i, inside ? a + (size_t)r * cols + c + i : a, inside);
    }
  }
}

__device__ void fetch(Tiles& t, const float* m, const float* n, const Sizes& s, int z) {
  const int id = threadIdx.x;
  fetch_quad(&t.m[id / 4][id % 4 * 4], m, s.j, s.k, blockIdx.y * TILE + id / 4, z + id % 4 * 4);
  fetch_quad(&t.n[id / 16][id % 16 * 4], n, s.k, s.l, z + id / 16, blockIdx.x * TILE + id % 16 * 4);
  __pipeline_commit();
}

__global__ void __launch_bounds__(256) pair_of_tiles(const float* m, const float* n, float* p, Sizes s) {
  __shared__ __align__(16) Tiles tiles[2];
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  float sum[4][4] = {};
  int now = 0;
  fetch(tiles[now], m, n, s, 0);
  for (int z = 0; z < s.k; z += STEP) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (z + STEP < s.k) fetch(tiles[1 - now], m, n, s, z + STEP);
    const Tiles& t = tiles[now];
    for (int d = 0; d < STEP; d += 4) {
      float4 a[4];
      for (int r = 0; r < 4; ++r) a[r] = *(const float4*)&t.m[ty + 16 * r][d];
      for (int e = 0; e < 4; ++e) {
        const float4 b = *(const float4*)&t.n[d + e][tx * 4];
        for (int r = 0; r < 4; ++r) {
          const float f = e == 0 ? a[r].x : e == 1 ? a[r].y : e == 2 ? a[r].z : a[r].w;
          sum[r][0] += f * b.x;
          sum[r][1] += f * b.y;
          sum[r][2] += f * b.z;
          sum[r][3] += f * b.w;
        }
      }
    }
    now = 1 - now;
  }
  for (int r = 0; r < 4; ++r) {
    const int row = blockIdx.y * TILE + ty + 16 * r;
    for (int c = 0; c < 4; ++c) {
      const int col = blockIdx.x * TILE + tx * 4 + c;
      if (row < s.j && col < s.l) p[(size_t)row * s.l + col] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Sizes s = {j, k, l};
  pair_of_tiles<<<dim3((l + TILE - 1) / TILE, (j + TILE - 1) / TILE), 256>>>(M, N, P, s);
  CHECK(cudaGetLastError());
}
