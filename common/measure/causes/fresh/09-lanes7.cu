// Lab 09: bits of the lane by hand, two buffers that are exchanged by flipping an index.
#include "check.h"
#include "copy_async.h"

enum { BLK = 128, WROWS = 64, WCOLS = 32, KK = 16, NT = 256 };

struct Place {
  int wy, wx;  // of the warp's tile in the block's
  int y, x;    // of the lane in the warp's tile
};

__device__ Place place_of(int thread) {
  const int w = thread >> 5, b = thread & 31;
  Place p;
  p.wy = (w >> 2) * WROWS;
  p.wx = (w & 3) * WCOLS;
  p.x = (b & 1) | ((b >> 1) & 2);
  p.y = ((b >> 1) & 1) | ((b >> 2) & 6);
  return p;
}

__device__ void quad(float* to, const float* A, int h, int w, int y, int x) {
  const float* from = A + (size_t)y * w + x;
  const bool vec = (w & 3) == 0;
  if (vec) {
    const bool in = y < h && x < w;
    copy_async<16>(to, in ? from : A, in);
  } else {
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const bool in = y < h && x + q < w;
      copy_async<4>(to + q, in ? from + q : A, in);
    }
  }
}

#define F4(p) (*reinterpret_cast<float4*>(p))

__global__ void __launch_bounds__(NT, 2)
    lanes(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(16) float sm[2][BLK][KK + 4];
  __shared__ __align__(16) float sn[2][KK][BLK];
  __shared__ __align__(16) float stage[NT / 32][8][WCOLS + 16];
  const int t = threadIdx.x;
  const Place at = place_of(t);
  const int gy = blockIdx.y * BLK, gx = blockIdx.x * BLK;

  const auto ask = [&](int buf, int z) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int r = t / 4 + half * 64, i = t % 4 * 4;
      quad(&sm[buf][r][i], M, j, k, gy + r, z + i);
      const int d = t / 32 + half * 8, c = t % 32 * 4;
      quad(&sn[buf][d][c], N, k, l, z + d, gx + c);
    }
    __pipeline_commit();
  };

  __align__(16) float acc[8][8] = {};
  int now = 0;
  ask(now, 0);
  for (int z = 0; z < k; z += KK) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (z + KK < k) ask(now ^ 1, z + KK);
    for (int i = 0; i < KK; i += 4) {
      __align__(16) float a[8][4];
      __align__(16) float b[8];
      for (int r = 0; r < 8; r++) F4(a[r]) = F4(&sm[now][at.wy + at.y + 8 * r][i]);
      for (int s = 0; s < 4; s++) {
        float* line = sn[now][i + s] + at.wx + 4 * at.x;
        F4(b) = F4(line);
        F4(b + 4) = F4(line + 16);
        for (int e = 0; e < 64; e++) acc[e / 8][e % 8] += a[e / 8][s] * b[e % 8];
      }
    }
    now ^= 1;
  }

  float(*mine)[WCOLS + 16] = stage[t / 32];
  const int col = gx + at.wx + t % 32;
  for (int r = 0; r < 8; r++) {
    F4(&mine[at.y][4 * at.x]) = F4(acc[r]);
    F4(&mine[at.y][4 * at.x + 16]) = F4(acc[r] + 4);
    __syncwarp();
    for (int q = 0; q < 8; q++) {
      const int row = gy + at.wy + 8 * r + q;
      if (row < j && col < l) P[(size_t)row * l + col] = mine[q][t % 32];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 blocks((l + BLK - 1) / BLK, (j + BLK - 1) / BLK);
  lanes<<<blocks, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
