// Lab 05 -- game developer: a template config, a flat thread id, interleaved rows.
#include "check.h"

template <int TileM, int TileN, int TileK, int PerThreadM, int PerThreadN>
struct Config {
  static constexpr int kTileM = TileM, kTileN = TileN, kTileK = TileK;
  static constexpr int kPerM = PerThreadM, kPerN = PerThreadN;
  static constexpr int kLanesX = TileN / PerThreadN;
  static constexpr int kLanesY = TileM / PerThreadM;
  static constexpr int kThreads = kLanesX * kLanesY;
};
using Cfg = Config<64, 64, 16, 4, 4>;

__device__ __forceinline__ float fetch(const float* src, int y, int x, int h, int w) {
  return (y < h && x < w) ? src[static_cast<size_t>(y) * w + x] : 0.0f;
}

template <class C>
__global__ void sgemm(const float* a, const float* b, float* c, int h, int depth, int w) {
  __shared__ float tileA[C::kTileM][C::kTileK];
  __shared__ float tileB[C::kTileK][C::kTileN];
  const int id = threadIdx.x;
  const int lx = id % C::kLanesX;
  const int ly = id / C::kLanesX;
  const int originY = blockIdx.y * C::kTileM;
  const int originX = blockIdx.x * C::kTileN;

  float acc[C::kPerM][C::kPerN];
  for (int y = 0; y < C::kPerM; ++y)
    for (int x = 0; x < C::kPerN; ++x) acc[y][x] = 0.0f;

  for (int z = 0; z < depth; z += C::kTileK) {
    for (int e = id; e < C::kTileM * C::kTileK; e += C::kThreads) {
      int y = e / C::kTileK, x = e % C::kTileK;
      tileA[y][x] = fetch(a, originY + y, z + x, h, depth);
    }
    for (int e = id; e < C::kTileK * C::kTileN; e += C::kThreads) {
      int y = e / C::kTileN, x = e % C::kTileN;
      tileB[y][x] = fetch(b, z + y, originX + x, depth, w);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < C::kTileK; ++k) {
      float regB[C::kPerN];
      for (int x = 0; x < C::kPerN; ++x) regB[x] = tileB[k][lx + x * C::kLanesX];
      for (int y = 0; y < C::kPerM; ++y) {
        const float regA = tileA[ly + y * C::kLanesY][k];
        for (int x = 0; x < C::kPerN; ++x) acc[y][x] += regA * regB[x];
      }
    }
    __syncthreads();
  }

  for (int y = 0; y < C::kPerM; ++y) {
    const int gy = originY + ly + y * C::kLanesY;
    if (gy >= h) break;
    for (int x = 0; x < C::kPerN; ++x) {
      const int gx = originX + lx + x * C::kLanesX;
      if (gx < w) c[static_cast<size_t>(gy) * w + gx] = acc[y][x];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + Cfg::kTileN - 1) / Cfg::kTileN, (j + Cfg::kTileM - 1) / Cfg::kTileM);
  sgemm<Cfg><<<grid, Cfg::kThreads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
