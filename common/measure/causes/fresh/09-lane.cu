// Warp struct holds who computes what; pointers to stages
#include "check.h"
#include "copy_async.h"

constexpr int TILE = 128, KB = 16, MP = KB + 4, OP = 48;

struct Who {
  int warp, lane, row, col, y, x;
  __device__ explicit Who(int t) : warp(t >> 5), lane(t & 31) {
    row = (warp >> 2) * 64;
    col = (warp & 3) * 32;
    x = (lane & 1) | ((lane & 4) >> 1);
    y = ((lane >> 1) & 1) | ((lane >> 3) << 1);
  }
};

__device__ inline float4 rd(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ inline void wr(float* p, float a, float b, float c, float d) {
  *reinterpret_cast<float4*>(p) = make_float4(a, b, c, d);
}

__device__ void grab(float* s, const float* g, int R, int C, int r, int c) {
  if (C & 3) {
#pragma unroll
    for (int q = 0; q < 4; q++) {
      bool in = r < R && c + q < C;
      copy_async<4>(s + q, in ? g + size_t(r) * C + c + q : g, in);
    }
  } else {
    bool in = r < R && c < C;
    copy_async<16>(s, in ? g + size_t(r) * C + c : g, in);
  }
}

__global__ void __launch_bounds__(256, 2)
warpmm(const float* A, const float* B, float* C, int j, int k, int l) {
  __shared__ alignas(16) float sa[2][TILE * MP];
  __shared__ alignas(16) float sb[2][KB * TILE];
  __shared__ alignas(16) float so[8][8 * OP];
  const int t = threadIdx.x;
  const Who me(t);
  const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
  const int phases = (k + KB - 1) / KB;

  auto order = [&](int ph) {
    float* da = sa[ph & 1];
    float* db = sb[ph & 1];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int r = t / 4 + 64 * h, c = t % 4 * 4;
      grab(da + r * MP + c, A, j, k, top + r, ph * KB + c);
      r = t / 32 + 8 * h, c = t % 32 * 4;
      grab(db + r * TILE + c, B, k, l, ph * KB + r, left + c);
    }
    __pipeline_commit();
  };

  float acc[8][8] = {};
  order(0);
  for (int ph = 0; ph < phases; ph++) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (ph + 1 < phases) order(ph + 1);
    const float* pa = sa[ph & 1] + (me.row + me.y) * MP;
    const float* pb = sb[ph & 1] + me.col + 4 * me.x;
    for (int i = 0; i < KB; i += 4) {
      alignas(16) float a[8][4], b[8];
#pragma unroll
      for (int r = 0; r < 8; r++) *(float4*)a[r] = rd(pa + 8 * r * MP + i);
#pragma unroll
      for (int s = 0; s < 4; s++) {
        *(float4*)b = rd(pb + (i + s) * TILE);
        *(float4*)(b + 4) = rd(pb + (i + s) * TILE + 16);
#pragma unroll
        for (int rc = 0; rc < 64; rc++) acc[rc / 8][rc % 8] += a[rc / 8][s] * b[rc % 8];
      }
    }
  }

  float* mine = so[me.warp];
  const int col = left + me.col + me.lane;
#pragma unroll
  for (int r = 0; r < 8; r++) {
    float* o = mine + me.y * OP + 4 * me.x;
    wr(o, acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    wr(o + 16, acc[r][4], acc[r][5], acc[r][6], acc[r][7]);
    __syncwarp();
    for (int s = 0; s < 8; s++) {
      const int row = top + me.row + 8 * r + s;
      if (row < j && col < l) C[size_t(row) * l + col] = mine[s * OP + me.lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  warpmm<<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
