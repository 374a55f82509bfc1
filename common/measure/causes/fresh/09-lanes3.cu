// Lab 09: warp tiles of 32 x 64, 4 x 8 lanes; bits of the lane picked one by one.
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int block = 128, depth = 16, warps = 8, threads = 32 * warps;
constexpr int warp_h = 32, warp_w = 64, lanes_h = 4, lanes_w = 8;
constexpr int across = block / warp_w;  // warp tiles side by side: 2
}  // namespace cfg
using namespace cfg;

struct Buffers {
  alignas(16) float m[2][block][depth + 4];
  alignas(16) float n[2][depth][block];
  alignas(16) float exit[warps][lanes_h][warp_w + 16];
};

struct In {
  const float* p;
  int h, w;
};

__device__ int bit(int value, int which) { return value >> which & 1; }
__device__ float4 get4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void set4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

__device__ void bring(float* to, const In& a, int y, int x) {
  const float* p = a.p + size_t(y) * a.w + x;
  if (a.w % 4) {
    for (int e = 0; e < 4; ++e) {
      bool there = y < a.h && x + e < a.w;
      copy_async<4>(to + e, there ? p + e : a.p, there);
    }
  } else {
    bool there = y < a.h && x < a.w;
    copy_async<16>(to, there ? p : a.p, there);
  }
}

__device__ void bring_all(Buffers& b, int side, const In& m, const In& n, int top, int left, int z) {
  for (int q = threadIdx.x; q < block * depth / 4; q += threads) {
    bring(&b.m[side][q / 4][q % 4 * 4], m, top + q / 4, z + q % 4 * 4);
    bring(&b.n[side][q / 32][q % 32 * 4], n, z + q / 32, left + q % 32 * 4);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(threads, 2) lane_kernel(In m, In n, float* out) {
  __shared__ Buffers b;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = blockIdx.y * block, left = blockIdx.x * block;
  const int wy = warp / across * warp_h, wx = warp % across * warp_w;
  const int ly = bit(lane, 1) + 2 * bit(lane, 3);
  const int lx = bit(lane, 0) + 2 * bit(lane, 2) + 4 * bit(lane, 4);

  alignas(16) float acc[8][8] = {};
  int side = 0;
  bring_all(b, side, m, n, top, left, 0);
  for (int z = 0; z < m.w; z += depth, side ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (z + depth < m.w) bring_all(b, side ^ 1, m, n, top, left, z + depth);

    for (int i = 0; i < depth; i += 4) {
      alignas(16) float rows[8][4], c[8];
      for (int r = 0; r < 8; ++r) set4(rows[r], get4(&b.m[side][wy + ly + lanes_h * r][i]));
      for (int s = 0; s < 4; ++s) {
        const float* line = b.n[side][i + s] + wx + 4 * lx;
        set4(c, get4(line));
        set4(c + 4, get4(line + 4 * lanes_w));
        for (int r = 0; r < 8; ++r) {
          for (int q = 0; q < 8; ++q) acc[r][q] += rows[r][s] * c[q];
        }
      }
    }
  }

  for (int r = 0; r < 8; ++r) {
    float* mine = &b.exit[warp][ly][4 * lx];
    set4(mine, get4(&acc[r][0]));
    set4(mine + 4 * lanes_w, get4(&acc[r][4]));
    __syncwarp();
    for (int s = 0; s < 2 * lanes_h; ++s) {
      const int y = top + wy + r * lanes_h + s / 2, c = s % 2 * 32 + lane;
      if (y < m.h && left + wx + c < n.w) {
        out[size_t(y) * n.w + left + wx + c] = b.exit[warp][s / 2][c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int gx = (l + block - 1) / block, gy = (j + block - 1) / block;
  lane_kernel<<<dim3(gx, gy), threads>>>(In{M, j, k}, In{N, k, l}, P);
  CHECK(cudaGetLastError());
}
