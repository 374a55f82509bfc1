// Lab 09: warp tiles of 32 x 64, lanes placed by their bits.
#include "check.h"
#include "copy_async.h"

namespace geo {
constexpr int BLK = 128;           // side of a block's tile
constexpr int WH = 32, WW = 64;    // height and width of a warp's tile
constexpr int H = 8, W = 8;        // of a thread
constexpr int LY = WH / H;         // 4 lanes down
constexpr int LX = WW / W;         // 8 lanes across
constexpr int KK = 16;             // depth of a phase
constexpr int PADK = KK + 4;
constexpr int NTHR = 256;
}  // namespace geo
using namespace geo;

#define AS4(p) (*reinterpret_cast<float4*>(p))

struct Place {
  int warp, lane, wy, wx, y, x;
  __device__ explicit Place(int t) {
    warp = t >> 5;
    lane = t & 31;
    wy = (warp >> 1) * WH;
    wx = (warp & 1) * WW;
    x = (lane & 1) | ((lane >> 1) & 6);         // bits 3, 2, 0
    y = ((lane >> 1) & 1) | ((lane >> 3) & 2);  // bits 4, 1
  }
};

__device__ void pull(float* dst, const float* g, int h, int w, int r, int c) {
  const float* p = g + size_t(r) * w + c;
  if (w % 4 == 0) {
    const bool in = r < h && c < w;
    copy_async<16>(dst, in ? p : g, in);
    return;
  }
  for (int s = 0; s < 4; ++s, ++p, ++dst) {
    const bool in = r < h && c + s < w;
    copy_async<4>(dst, in ? p : g, in);
  }
}

__global__ void __launch_bounds__(NTHR, 2)
    bits(const float* a, const float* b, float* out, int j, int k, int l) {
  __shared__ alignas(16) float ta[2][BLK][PADK];
  __shared__ alignas(16) float tb[2][KK][BLK];
  __shared__ alignas(16) float row_buf[NTHR / 32][LY][WW + 16];
  const Place me(threadIdx.x);
  const int r0 = blockIdx.y * BLK, c0 = blockIdx.x * BLK;

  auto request = [&](int stage, int k0) {
    for (int q = threadIdx.x; q < BLK * KK / 4; q += NTHR) {
      const int r = q / (KK / 4), i = q % (KK / 4) * 4;
      pull(&ta[stage][r][i], a, j, k, r0 + r, k0 + i);
    }
    for (int q = threadIdx.x; q < BLK * KK / 4; q += NTHR) {
      const int i = q / (BLK / 4), c = q % (BLK / 4) * 4;
      pull(&tb[stage][i][c], b, k, l, k0 + i, c0 + c);
    }
    __pipeline_commit();
  };

  alignas(16) float acc[H][W] = {};
  request(0, 0);
  int stage = 0;
  for (int k0 = 0; k0 < k; k0 += KK, stage = 1 - stage) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + KK < k) request(1 - stage, k0 + KK);

    for (int i = 0; i < KK; i += 4) {
      alignas(16) float av[H][4], bv[W];
      for (int p = 0; p < H; ++p) AS4(av[p]) = AS4(&ta[stage][me.wy + me.y + p * LY][i]);
      for (int s = 0; s < 4; ++s) {
        float* line = &tb[stage][i + s][me.wx + me.x * 4];
        AS4(bv) = AS4(line);
        AS4(bv + 4) = AS4(line + WW / 2);
        for (int p = 0; p < H; ++p)
          for (int q = 0; q < W; ++q) acc[p][q] += av[p][s] * bv[q];
      }
    }
  }

  for (int p = 0; p < H; ++p) {
    float* mine = &row_buf[me.warp][me.y][me.x * 4];
    AS4(mine) = AS4(&acc[p][0]);
    AS4(mine + WW / 2) = AS4(&acc[p][4]);
    __syncwarp();
    for (int y = 0; y < LY; ++y) {
      const int row = r0 + me.wy + p * LY + y;
      for (int x = me.lane; x < WW; x += 32) {
        const int col = c0 + me.wx + x;
        if (row < j && col < l) out[size_t(row) * l + col] = row_buf[me.warp][y][x];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + BLK - 1) / BLK, (j + BLK - 1) / BLK);
  bits<<<grid, NTHR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
