#include "check.h"

// game dev style: small types, everything inline
using u32 = unsigned int;

namespace cfg {
constexpr u32 tileH = 64, tileW = 64, depth = 16;
constexpr u32 patch = 4;
constexpr u32 lanesX = tileW / patch, lanesY = tileH / patch;
constexpr u32 threads = lanesX * lanesY;
}  // namespace cfg

struct Patch {
  float v[cfg::patch][cfg::patch];
  __device__ void clear() {
    for (u32 a = 0; a < cfg::patch; ++a)
      for (u32 b = 0; b < cfg::patch; ++b) v[a][b] = 0.f;
  }
  __device__ void rank1(const float (&u)[cfg::patch], const float (&w)[cfg::patch]) {
    for (u32 a = 0; a < cfg::patch; ++a)
      for (u32 b = 0; b < cfg::patch; ++b) v[a][b] += u[a] * w[b];
  }
};

__global__ void gemmPatch(const float* A, const float* B, float* C, u32 h, u32 d, u32 w) {
  using namespace cfg;
  __shared__ float sA[depth][tileH];
  __shared__ float sB[depth][tileW];

  const u32 id = threadIdx.x;
  const u32 px = id % lanesX, py = id / lanesX;
  const u32 top = blockIdx.y * tileH, left = blockIdx.x * tileW;

  Patch acc;
  acc.clear();
  for (u32 z = 0; z < d; z += depth) {
    const u32 az = id % depth;
    for (u32 ay = id / depth; ay < tileH; ay += threads / depth) {
      const bool inside = top + ay < h && z + az < d;
      sA[az][ay] = inside ? A[size_t(top + ay) * d + z + az] : 0.f;
    }
    const u32 bx = id % tileW;
    for (u32 bz = id / tileW; bz < depth; bz += threads / tileW) {
      const bool inside = z + bz < d && left + bx < w;
      sB[bz][bx] = inside ? B[size_t(z + bz) * w + left + bx] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (u32 q = 0; q < depth; ++q) {
      float u[patch], v[patch];
      for (u32 a = 0; a < patch; ++a) u[a] = sA[q][py * patch + a];
      for (u32 b = 0; b < patch; ++b) v[b] = sB[q][px + b * lanesX];
      acc.rank1(u, v);
    }
    __syncthreads();
  }

  for (u32 a = 0; a < patch; ++a) {
    const u32 y = top + py * patch + a;
    if (y >= h) break;
    for (u32 b = 0; b < patch; ++b) {
      const u32 x = left + px + b * lanesX;
      if (x < w) C[size_t(y) * w + x] = acc.v[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto up = [](u32 n, u32 by) { return (n + by - 1) / by; };
  const dim3 grid(up(l, cfg::tileW), up(j, cfg::tileH));
  gemmPatch<<<grid, cfg::threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
