// Lab 09: warp tiles of 32 x 64, lanes 4 x 8.
#include "check.h"
#include "copy_async.h"

enum : int {
  kBlock = 128, kDepth = 16, kPitch = kDepth + 4,
  kWarpH = 32, kWarpW = 64, kLaneH = 4, kLaneW = 8, kOutPitch = kWarpW + 16,
  kThreads = 256
};

template <class V = float4> __device__ V& as4(float* p) { return *reinterpret_cast<V*>(p); }
template <class V = float4> __device__ const V& as4(const float* p) { return *reinterpret_cast<const V*>(p); }

struct Source {
  const float* data;
  int h, w;
  __device__ void pull(float* dst, int y, int x) const {
    const float* src = data + size_t(y) * w + x;
    if ((w & 3) == 0) {
      const bool hit = y < h && x < w;
      copy_async<16>(dst, hit ? src : data, hit);
    } else {
      for (int n = 0; n < 4; ++n) {
        const bool hit = y < h && x + n < w;
        copy_async<4>(dst + n, hit ? src + n : data, hit);
      }
    }
  }
};

struct Level {
  float a[kBlock][kPitch];
  float b[kDepth][kBlock];
};

__device__ void spawn(Level& lv, const Source& A, const Source& B, int y0, int x0, int z) {
  for (int q = threadIdx.x; q < kBlock * kDepth / 4; q += kThreads) {
    const int y = q >> 2, i = (q & 3) << 2;
    A.pull(&lv.a[y][i], y0 + y, z + i);
  }
  for (int q = threadIdx.x; q < kDepth * kBlock / 4; q += kThreads) {
    const int i = q >> 5, x = (q & 31) << 2;
    B.pull(&lv.b[i][x], z + i, x0 + x);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(kThreads, 2) world(Source A, Source B, float* P) {
  __shared__ __align__(16) Level levels[2];
  __shared__ __align__(16) float exit_[kThreads / 32][kLaneH][kOutPitch];

  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int y0 = blockIdx.y * kBlock, x0 = blockIdx.x * kBlock;
  const int wy = (warp >> 1) * kWarpH, wx = (warp & 1) * kWarpW;
  // bits 4 and 1 are the row of a lane, bits 3, 2 and 0 its column
  const int ly = (lane >> 1 & 1) | (lane >> 3 & 2);
  const int lx = (lane & 1) | (lane >> 1 & 6);

  float hp[8][8] = {};
  int cur = 0;
  spawn(levels[0], A, B, y0, x0, 0);
  for (int z = 0; z < A.w; z += kDepth, cur ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (z + kDepth < A.w) spawn(levels[cur ^ 1], A, B, y0, x0, z + kDepth);

    const Level& lv = levels[cur];
#pragma unroll
    for (int i = 0; i < kDepth; i += 4) {
      __align__(16) float a[8][4];
      for (int r = 0; r < 8; ++r) as4(a[r]) = as4(&lv.a[wy + ly + r * kLaneH][i]);
      for (int s = 0; s < 4; ++s) {
        __align__(16) float b[8];
        as4(b) = as4(&lv.b[i + s][wx + 4 * lx]);
        as4(b + 4) = as4(&lv.b[i + s][wx + 4 * lx + kWarpW / 2]);
        for (int r = 0; r < 8; ++r)
          for (int c = 0; c < 8; ++c) hp[r][c] += a[r][s] * b[c];
      }
    }
  }

  float(*mine)[kOutPitch] = exit_[warp];
  for (int r = 0; r < 8; ++r) {
    as4(&mine[ly][4 * lx]) = make_float4(hp[r][0], hp[r][1], hp[r][2], hp[r][3]);
    as4(&mine[ly][4 * lx + kWarpW / 2]) = make_float4(hp[r][4], hp[r][5], hp[r][6], hp[r][7]);
    __syncwarp();
    for (int s = 0; s < kLaneH; ++s) {
      const int y = y0 + wy + r * kLaneH + s;
      for (int c = lane; c < kWarpW; c += 32) {
        const int x = x0 + wx + c;
        if (y < A.h && x < B.w) P[size_t(y) * B.w + x] = mine[s][c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Source a{M, j, k}, b{N, k, l};
  const dim3 grid((l + kBlock - 1) / kBlock, (j + kBlock - 1) / kBlock);
  world<<<grid, kThreads>>>(a, b, P);
  CHECK(cudaGetLastError());
}
