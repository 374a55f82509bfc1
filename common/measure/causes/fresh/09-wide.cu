// Warp tiles of 32 x 64: 4 x 8 lanes, 4 x 2 warps. P leaves through a strip per warp.
#include "check.h"
#include "copy_async.h"

constexpr int kBlockRows = 128, kBlockCols = 128, kDepth = 16;
constexpr int kWarpRows = 32, kWarpCols = 64, kLaneRows = 4, kLaneCols = 8;
constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kPitchM = kDepth + 4, kPitchOut = kWarpCols + 16;

struct Smem {
  float m[2][kBlockRows * kPitchM];
  float n[2][kDepth * kBlockCols];
  float out[kWarps][kLaneRows * kPitchOut];
};

__device__ inline float4 get4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ inline void set4(float* p, const float* v) {
  *reinterpret_cast<float4*>(p) = make_float4(v[0], v[1], v[2], v[3]);
}

// One group of four neighbours; the tail of a row is filled up with zeros.
__device__ void group(float* to, const float* a, int rows, int cols, int r, int c) {
  bool row_in = r < rows;
  const float* from = row_in ? a + size_t(r) * cols : a;
  if (cols % 4 == 0) {
    bool in = row_in && c < cols;
    copy_async<16>(to, in ? from + c : a, in);
  } else {
    for (int q = c; q < c + 4; ++q, ++to) {
      bool in = row_in && q < cols;
      copy_async<4>(to, in ? from + q : a, in);
    }
  }
}

__global__ void __launch_bounds__(kThreads, 2)
    wide(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(16) Smem sm;
  const int t = threadIdx.x, w = t >> 5, lane = t & 31;
  const int r0 = blockIdx.y * kBlockRows, c0 = blockIdx.x * kBlockCols;
  const int wr = (w >> 1) * kWarpRows, wc = (w & 1) * kWarpCols;
  // bits of the lane: 4 3 2 1 0 -> y: 4 1, x: 3 2 0
  const int y = (lane >> 1 & 1) | (lane >> 4 & 1) << 1;
  const int x = (lane & 1) | (lane >> 2 & 3) << 1;

  auto fill = [&](int stage, int k0) {
    for (int g = t; g < kBlockRows * kDepth / 4; g += kThreads) {
      int r = g / (kDepth / 4), c = g % (kDepth / 4) * 4;
      group(&sm.m[stage][r * kPitchM + c], M, j, k, r0 + r, k0 + c);
    }
    for (int g = t; g < kDepth * kBlockCols / 4; g += kThreads) {
      int r = g / (kBlockCols / 4), c = g % (kBlockCols / 4) * 4;
      group(&sm.n[stage][r * kBlockCols + c], N, k, l, k0 + r, c0 + c);
    }
    __pipeline_commit();
  };

  float acc[8][8] = {};
  int stage = 0;
  fill(stage, 0);
  for (int k0 = 0; k0 < k; k0 += kDepth, stage ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + kDepth < k) fill(stage ^ 1, k0 + kDepth);

    const float* ms = &sm.m[stage][(wr + y) * kPitchM];
    const float* ns = &sm.n[stage][wc + 4 * x];
#pragma unroll
    for (int i = 0; i < kDepth; i += 4) {
      float4 a[8];
      for (int r = 0; r < 8; ++r) a[r] = get4(ms + r * kLaneRows * kPitchM + i);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float4 b0 = get4(ns + (i + s) * kBlockCols);
        const float4 b1 = get4(ns + (i + s) * kBlockCols + 4 * kLaneCols);
        const float b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
        for (int r = 0; r < 8; ++r) {
          const float v = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
          for (int c = 0; c < 8; ++c) acc[r][c] += v * b[c];
        }
      }
    }
  }

  float* strip = sm.out[w];
  for (int r = 0; r < 8; ++r) {
    set4(strip + y * kPitchOut + 4 * x, &acc[r][0]);
    set4(strip + y * kPitchOut + 4 * (x + kLaneCols), &acc[r][4]);
    __syncwarp();
    for (int s = 0; s < kLaneRows; ++s) {
      const int row = r0 + wr + r * kLaneRows + s;
      for (int c = lane; c < kWarpCols && row < j; c += 32) {
        const int col = c0 + wc + c;
        if (col < l) P[size_t(row) * l + col] = strip[s * kPitchOut + c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const unsigned gx = (l + kBlockCols - 1) / kBlockCols;
  const unsigned gy = (j + kBlockRows - 1) / kBlockRows;
  wide<<<dim3(gx, gy), kThreads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
