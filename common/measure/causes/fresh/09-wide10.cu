// Lab 09, Marta K. Warp tiles are 32 x 64 (wide), so the lanes are 4 x 8. Bits: x = 3,2,0; y = 4,1.
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int block = 128, depth = 16, threads = 256;
constexpr int warp_h = 32, warp_w = 64;  // 4 x 2 warps
constexpr int lanes_y = 4, lanes_x = 8;
constexpr int each = 8;                  // results of a thread in either direction
constexpr int pitch_m = depth + 4, pitch_out = warp_w + 16;
}  // namespace cfg

__device__ inline float4& as4(float& f) { return reinterpret_cast<float4&>(f); }

__device__ void copy_quad(float* dst, const float* src, int rows, int cols, int row, int col) {
  const size_t at = size_t(row) * cols + col;
  if (cols % 4) {
    for (int c = 0; c < 4; ++c) {
      const bool in = row < rows && col + c < cols;
      copy_async<4>(dst + c, src + (in ? at + c : 0), in);
    }
  } else {
    const bool in = row < rows && col < cols;
    copy_async<16>(dst, src + (in ? at : 0), in);
  }
}

__global__ void __launch_bounds__(cfg::threads, 2)
wide_warps(const float* M, const float* N, float* P, int j, int k, int l) {
  using namespace cfg;
  __shared__ alignas(16) float sm[2][block][pitch_m];
  __shared__ alignas(16) float sn[2][depth][block];
  __shared__ alignas(16) float exit_rows[threads / 32][lanes_y][pitch_out];

  const int id = threadIdx.x;
  const int warp = id >> 5, lane = id & 31;
  const int x = (lane & 1) | ((lane >> 1) & 6);
  const int y = ((lane >> 1) & 1) | ((lane >> 3) & 2);
  const int wy = (warp >> 1) * warp_h, wx = (warp & 1) * warp_w;
  const int row0 = blockIdx.y * block, col0 = blockIdx.x * block;

  auto fetch = [=](float (*tm)[pitch_m], float (*tn)[block], int k0) {
    for (int q = id; q < block * depth / 4; q += threads) {
      copy_quad(&tm[q >> 2][(q & 3) * 4], M, j, k, row0 + (q >> 2), k0 + (q & 3) * 4);
      copy_quad(&tn[q >> 5][(q & 31) * 4], N, k, l, k0 + (q >> 5), col0 + (q & 31) * 4);
    }
    __pipeline_commit();
  };

  alignas(16) float sum[each][each] = {};
  int cur = 0;
  fetch(sm[0], sn[0], 0);
  for (int k0 = 0; k0 < k; k0 += depth, cur ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + depth < k) fetch(sm[cur ^ 1], sn[cur ^ 1], k0 + depth);

    for (int i = 0; i < depth; i += 4) {
      alignas(16) float m[each][4], n[each];
      for (int r = 0; r < each; ++r) as4(m[r][0]) = as4(sm[cur][wy + r * lanes_y + y][i]);
      for (int s = 0; s < 4; ++s) {
        float* line = &sn[cur][i + s][wx + x * 4];
        as4(n[0]) = as4(line[0]);
        as4(n[4]) = as4(line[lanes_x * 4]);
        for (int r = 0; r < each; ++r)
          for (int c = 0; c < each; ++c) sum[r][c] += m[r][s] * n[c];
      }
    }
  }

  float(*mine)[pitch_out] = exit_rows[warp];
  for (int r = 0; r < each; ++r) {
    as4(mine[y][x * 4]) = as4(sum[r][0]);
    as4(mine[y][x * 4 + lanes_x * 4]) = as4(sum[r][4]);
    __syncwarp();
    for (int s = 0; s < lanes_y * 2; ++s) {
      const int row = row0 + wy + r * lanes_y + s / 2;
      const int in_warp = s % 2 * 32 + lane, col = col0 + wx + in_warp;
      if (row < j && col < l) P[size_t(row) * l + col] = mine[s / 2][in_warp];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto blocks = [](int n) { return (n + cfg::block - 1) / cfg::block; };
  wide_warps<<<dim3(blocks(l), blocks(j)), cfg::threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
