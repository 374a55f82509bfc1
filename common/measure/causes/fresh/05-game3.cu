// Game dev: micro tiles, macros, 1-D thread groups
#include "check.h"

#define GROUP 256
#define TILE 64
#define DEPTH 16
#define PATCH 4
#define LANES (TILE / PATCH)

struct Int2 { int x, y; };

__device__ __forceinline__ Int2 split(int id, int w) { return {id % w, id / w}; }

__global__ void matmulCS(const float* texA, const float* texB, float* rt, int h, int d, int w) {
  __shared__ float lds_a[DEPTH][TILE];
  __shared__ float lds_b[DEPTH][TILE];

  const int gi = threadIdx.x;
  const Int2 local = split(gi, LANES);
  const Int2 origin = {(int)blockIdx.x * TILE, (int)blockIdx.y * TILE};

  float patch[PATCH][PATCH];
#pragma unroll
  for (int a = 0; a < PATCH; a++)
#pragma unroll
    for (int b = 0; b < PATCH; b++) patch[a][b] = 0.0f;

  for (int z = 0; z < d; z += DEPTH) {
#pragma unroll
    for (int pass = 0; pass < TILE * DEPTH / GROUP; pass++) {
      const Int2 pa = split(gi + pass * GROUP, DEPTH);
      const int ay = origin.y + pa.y, ax = z + pa.x;
      float texel = 0.0f;
      if (ay < h && ax < d) texel = texA[(size_t)ay * d + ax];
      lds_a[pa.x][pa.y] = texel;

      const Int2 pb = split(gi + pass * GROUP, TILE);
      const int by = z + pb.y, bx = origin.x + pb.x;
      texel = 0.0f;
      if (by < d && bx < w) texel = texB[(size_t)by * w + bx];
      lds_b[pb.y][pb.x] = texel;
    }
    __syncthreads();

#pragma unroll
    for (int s = 0; s < DEPTH; s++) {
      float va[PATCH], vb[PATCH];
#pragma unroll
      for (int q = 0; q < PATCH; q++) {
        va[q] = lds_a[s][local.y * PATCH + q];
        vb[q] = lds_b[s][local.x + q * LANES];
      }
#pragma unroll
      for (int a = 0; a < PATCH; a++)
#pragma unroll
        for (int b = 0; b < PATCH; b++) patch[a][b] += va[a] * vb[b];
    }
    __syncthreads();
  }

#pragma unroll
  for (int a = 0; a < PATCH; a++) {
    const int py = origin.y + local.y * PATCH + a;
    if (py >= h) break;
#pragma unroll
    for (int b = 0; b < PATCH; b++) {
      const int px = origin.x + local.x + b * LANES;
      if (px < w) rt[(size_t)py * w + px] = patch[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const unsigned tilesX = (l + TILE - 1) / TILE;
  const unsigned tilesY = (j + TILE - 1) / TILE;
  matmulCS<<<dim3(tilesX, tilesY), GROUP>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
