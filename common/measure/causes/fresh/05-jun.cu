// Lab 05, Jun: 64 threads per block, each with an 8 x 8 patch spread over the tile; sizes in
// constant memory, as shaders have them in a uniform block.
#include "check.h"

struct Uniforms {
  int rows, depth, cols;
};
__constant__ Uniforms U;

#define TILE 64
#define SLAB 8
#define EACH 8
#define SIDE (TILE / EACH)
#define GROUP (SIDE * SIDE)
#define FOR(i, n) for (int i = 0; i < (n); ++i)

__global__ void shade(const float* M, const float* N, float* P) {
  __shared__ float sm[TILE][SLAB + 1];
  __shared__ float sn[SLAB][TILE];
  const int me = threadIdx.y * SIDE + threadIdx.x;
  const int y0 = blockIdx.y * TILE, x0 = blockIdx.x * TILE;

  float color[EACH][EACH] = {};
  for (int z0 = 0; z0 < U.depth; z0 += SLAB) {
    if (z0 > 0) __syncthreads();  // the tiles of before are used up
    FOR(turn, TILE * SLAB / GROUP) {
      int e = turn * GROUP + me;
      int y = y0 + e / SLAB, z = z0 + e % SLAB;
      sm[e / SLAB][e % SLAB] = y < U.rows && z < U.depth ? M[size_t(y) * U.depth + z] : 0.0f;
    }
    FOR(turn, TILE * SLAB / GROUP) {
      int e = turn * GROUP + me;
      int z = z0 + e / TILE, x = x0 + e % TILE;
      sn[e / TILE][e % TILE] = z < U.depth && x < U.cols ? N[size_t(z) * U.cols + x] : 0.0f;
    }
    __syncthreads();

    FOR(z, SLAB) {
      float down[EACH], across[EACH];
      FOR(i, EACH) down[i] = sm[threadIdx.y + i * SIDE][z];
      FOR(i, EACH) across[i] = sn[z][threadIdx.x + i * SIDE];
      FOR(a, EACH) FOR(b, EACH) color[a][b] += down[a] * across[b];
    }
  }

  FOR(a, EACH) {
    int y = y0 + threadIdx.y + a * SIDE;
    if (y >= U.rows) continue;
    float* line = P + size_t(y) * U.cols;
    FOR(b, EACH) {
      int x = x0 + threadIdx.x + b * SIDE;
      if (x < U.cols) line[x] = color[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Uniforms u = {j, k, l};
  CHECK(cudaMemcpyToSymbol(U, &u, sizeof u));
  dim3 group(SIDE, SIDE);
  dim3 groups((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  shade<<<groups, group>>>(M, N, P);
  CHECK(cudaGetLastError());
}
