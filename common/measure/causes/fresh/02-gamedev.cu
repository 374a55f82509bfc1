// Lab 02. Tile cache structs, pointers that move through the world.
#include "check.h"

static constexpr int S = 32;

struct Coord { int x, y; };

struct TileCache {
  float cell[S][S];
  __device__ void put(Coord at, float v) { cell[at.y][at.x] = v; }
};

__device__ __forceinline__ Coord local()  { return {int(threadIdx.x), int(threadIdx.y)}; }
__device__ __forceinline__ Coord origin() { return {int(blockIdx.x) * S, int(blockIdx.y) * S}; }

__device__ float mulAddRow(const TileCache& a, const TileCache& b, Coord me, float start) {
  float v = start;
#pragma unroll
  for (int s = 0; s < S; s++)
    v = fmaf(a.cell[me.y][s], b.cell[s][me.x], v);
  return v;
}

__global__ void tileKernel(const float* __restrict__ M, const float* __restrict__ N,
                           float* __restrict__ P, int pitch) {
  __shared__ TileCache cacheM, cacheN;
  const Coord me = local();
  const Coord org = origin();

  const float* srcM = M + (org.y + me.y) * pitch + me.x;
  const float* srcN = N + me.y * pitch + org.x + me.x;
  const float* const endM = srcM + pitch;

  float v = 0.0f;
  while (srcM != endM) {
    cacheM.put(me, *srcM);
    cacheN.put(me, *srcN);
    __syncthreads();
    v = mulAddRow(cacheM, cacheN, me, v);
    srcM += S;
    srcN += S * pitch;
    __syncthreads();
  }
  P[(org.y + me.y) * pitch + org.x + me.x] = v;
}

void solve(const float* M, const float* N, float* P, int width) {
  const unsigned tiles = unsigned(width) / S;
  tileKernel<<<dim3(tiles, tiles, 1), dim3(S, S, 1)>>>(M, N, P, width);
  CHECK(cudaPeekAtLastError());
}
