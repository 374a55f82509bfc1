// Lab 05. 64x64 block, every thread a 4x4 patch, M's tile not transposed (rows 16 apart).
#include "check.h"

enum : int { kTile = 64, kDepth = 16, kPatch = 4, kLanes = kTile / kPatch, kThreads = kLanes * kLanes };

struct Extent {
  int j, k, l;
};

struct Patch {
  float v[kPatch][kPatch];

  __device__ void clear() {
#pragma unroll
    for (int a = 0; a < kPatch; a++)
#pragma unroll
      for (int b = 0; b < kPatch; b++) v[a][b] = 0.f;
  }
  __device__ void madd(const float (&u)[kPatch], const float (&w)[kPatch]) {
#pragma unroll
    for (int a = 0; a < kPatch; a++)
#pragma unroll
      for (int b = 0; b < kPatch; b++) v[a][b] += u[a] * w[b];
  }
};

// Fetches an H x W window of src with its corner at (r0, c0); whatever is off the map reads as 0.
template <int H, int W>
__device__ void fetchWindow(float (&dst)[H][W], const float* src, int rows, int cols, int r0, int c0) {
#pragma unroll
  for (int step = 0; step < H * W / kThreads; step++) {
    const int n = step * kThreads + threadIdx.x;
    const int r = n / W, c = n % W;
    float texel = 0.f;
    if (r0 + r < rows && c0 + c < cols) texel = src[(size_t)(r0 + r) * cols + (c0 + c)];
    dst[r][c] = texel;
  }
}

__global__ void renderProduct(const float* M, const float* N, float* P, Extent ext) {
  __shared__ float winM[kTile][kDepth];
  __shared__ float winN[kDepth][kTile];

  const int px = threadIdx.x % kLanes;
  const int py = threadIdx.x / kLanes;
  const int originY = blockIdx.y * kTile;
  const int originX = blockIdx.x * kTile;

  Patch patch;
  patch.clear();
  for (int z = 0; z < ext.k; z += kDepth) {
    fetchWindow(winM, M, ext.j, ext.k, originY, z);
    fetchWindow(winN, N, ext.k, ext.l, z, originX);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; d++) {
      float u[kPatch], w[kPatch];
#pragma unroll
      for (int q = 0; q < kPatch; q++) {
        u[q] = winM[py + q * kLanes][d];
        w[q] = winN[d][px + q * kLanes];
      }
      patch.madd(u, w);
    }
    __syncthreads();
  }

#pragma unroll
  for (int a = 0; a < kPatch; a++) {
    const int y = originY + py + a * kLanes;
    if (y >= ext.j) break;
#pragma unroll
    for (int b = 0; b < kPatch; b++) {
      const int x = originX + px + b * kLanes;
      if (x < ext.l) P[(size_t)y * ext.l + x] = patch.v[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Extent ext = {j, k, l};
  dim3 grid((l + kTile - 1) / kTile, (j + kTile - 1) / kTile);
  renderProduct<<<grid, kThreads>>>(M, N, P, ext);
  CHECK(cudaGetLastError());
}
