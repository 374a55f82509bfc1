// Lab 09 with warp tiles of 32 x 64: 4 x 8 lanes, 8 x 8 results each.
#include "check.h"
#include "copy_async.h"

enum : int { BLK = 128, STEP = 16, NTHR = 256, PAD_A = 4, PAD_O = 16 };
enum : int { WARP_H = 32, WARP_W = 64, LANES_H = 4, LANES_W = 8 };

#define BIT(v, n) (((v) >> (n)) & 1)
#define AS4(p) (*reinterpret_cast<float4*>(p))

__device__ void stream4(float* dst, const float* src, int h, int w, int r, int c) {
  const float* p = src + size_t(r) * w + c;
  const bool row_ok = r < h;
  if (w % 4) {
    for (int q = 0; q < 4; ++q) {
      const bool ok = row_ok && c + q < w;
      copy_async<4>(dst + q, ok ? p + q : src, ok);
    }
  } else {
    const bool ok = row_ok && c < w;
    copy_async<16>(dst, ok ? p : src, ok);
  }
}

__global__ void __launch_bounds__(NTHR, 2)
    wide_warps(const float* A, const float* B, float* C, int j, int k, int l) {
  __shared__ alignas(16) float as[2][BLK][STEP + PAD_A];
  __shared__ alignas(16) float bs[2][STEP][BLK];
  __shared__ alignas(16) float exit_[NTHR / 32][LANES_H][WARP_W + PAD_O];

  const int t = threadIdx.x, lane = t & 31, w = t >> 5;
  const int ly = BIT(lane, 1) | BIT(lane, 4) << 1;
  const int lx = BIT(lane, 0) | BIT(lane, 2) << 1 | BIT(lane, 3) << 2;
  const int wy = w / 2 * WARP_H, wx = w % 2 * WARP_W;
  const int by = blockIdx.y * BLK, bx = blockIdx.x * BLK;

  auto ask = [&](int k0, int half) {
    for (int q = t; q < BLK * STEP / 4; q += NTHR) {
      const int ar = q / 4, ac = q % 4 * 4;
      const int br = q / 32, bc = q % 32 * 4;
      stream4(&as[half][ar][ac], A, j, k, by + ar, k0 + ac);
      stream4(&bs[half][br][bc], B, k, l, k0 + br, bx + bc);
    }
    __pipeline_commit();
  };

  alignas(16) float s[8][8] = {};
  int half = 0;
  ask(0, half);
  for (int k0 = 0; k0 < k; k0 += STEP) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + STEP < k) ask(k0 + STEP, half ^ 1);

    for (int i = 0; i < STEP; i += 4) {
      alignas(16) float a[8][4], b[8];
#pragma unroll
      for (int r = 0; r < 8; ++r) AS4(a[r]) = AS4(&as[half][wy + ly + LANES_H * r][i]);
#pragma unroll
      for (int d = 0; d < 4; ++d) {
        AS4(b) = AS4(&bs[half][i + d][wx + 4 * lx]);
        AS4(b + 4) = AS4(&bs[half][i + d][wx + WARP_W / 2 + 4 * lx]);
#pragma unroll
        for (int e = 0; e < 64; ++e) s[e / 8][e % 8] += a[e / 8][d] * b[e % 8];
      }
    }
    half ^= 1;
  }

  float(*mine)[WARP_W + PAD_O] = exit_[w];
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    AS4(&mine[ly][4 * lx]) = AS4(&s[r][0]);
    AS4(&mine[ly][4 * lx + WARP_W / 2]) = AS4(&s[r][4]);
    __syncwarp();
    for (int q = 0; q < LANES_H; ++q) {
      const int row = by + wy + r * LANES_H + q;
      for (int c = lane; c < WARP_W; c += 32) {
        const int col = bx + wx + c;
        if (row < j && col < l) C[size_t(row) * l + col] = mine[q][c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int across = l / BLK + (l % BLK != 0), down = j / BLK + (j % BLK != 0);
  wide_warps<<<dim3(across, down), NTHR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
