// Warp tiles lying on their side: 32 rows x 64 columns, 4 x 8 lanes; warps 4 x 2.
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int Block = 128, Deep = 16;
constexpr int WarpH = 32, WarpW = 64;
constexpr int LanesY = 4, LanesX = 8;
constexpr int Warps = 8, Threads = 32 * Warps;
}  // namespace cfg

struct Shared {
  float m[2][cfg::Block][cfg::Deep + 4];
  float n[2][cfg::Deep][cfg::Block];
  float way_out[cfg::Warps][cfg::LanesY][cfg::WarpW + 16];
};

__device__ float4& as4(float& f) { return reinterpret_cast<float4&>(f); }

__device__ void pull(float* dst, const float* src, int rows, int cols, int r, int c) {
  const float* from = src + size_t(r) * cols + c;
  if (cols % 4 == 0) {
    bool there = r < rows && c < cols;
    copy_async<16>(dst, there ? from : src, there);
  } else {
    for (int i = 0; i < 4; ++i) {
      bool there = r < rows && c + i < cols;
      copy_async<4>(dst + i, there ? from + i : src, there);
    }
  }
}

__global__ void __launch_bounds__(cfg::Threads, 2)
    wide_warps(const float* M, const float* N, float* P, int j, int k, int l) {
  using namespace cfg;
  __shared__ alignas(16) Shared sh;
  const int tid = threadIdx.x, warp = tid >> 5, lane = tid & 31;
  const int by = blockIdx.y * Block, bx = blockIdx.x * Block;
  const int wy = (warp >> 1) * WarpH, wx = (warp & 1) * WarpW;
  // bits 0, 2 and 4 of the lane are x, bits 1 and 3 are y
  const int x = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4);
  const int y = (lane >> 1 & 1) | (lane >> 2 & 2);

  auto prefetch = [&](int phase) {
    const int stage = phase & 1;
    for (int h = 0; h < 2; ++h) {
      const int mr = (tid >> 2) + 64 * h, mc = (tid & 3) << 2;
      pull(&sh.m[stage][mr][mc], M, j, k, by + mr, phase * Deep + mc);
      const int nr = (tid >> 5) + 8 * h, nc = (tid & 31) << 2;
      pull(&sh.n[stage][nr][nc], N, k, l, phase * Deep + nr, bx + nc);
    }
    __pipeline_commit();
  };

  alignas(16) float acc[8][8] = {};
  const int last = (k - 1) / Deep;
  prefetch(0);
  for (int phase = 0; phase <= last; ++phase) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (phase < last) prefetch(phase + 1);
    auto& m = sh.m[phase & 1];
    auto& n = sh.n[phase & 1];
    for (int d = 0; d < Deep; d += 4) {
      alignas(16) float a[8][4], b[8];
      for (int r = 0; r < 8; ++r) as4(a[r][0]) = as4(m[wy + y + r * LanesY][d]);
      for (int s = 0; s < 4; ++s) {
        as4(b[0]) = as4(n[d + s][wx + 4 * x]);
        as4(b[4]) = as4(n[d + s][wx + WarpW / 2 + 4 * x]);
        for (int r = 0; r < 8; ++r)
          for (int c = 0; c < 8; ++c) acc[r][c] += a[r][s] * b[c];
      }
    }
  }

  auto& lines = sh.way_out[warp];
  for (int r = 0; r < 8; ++r) {
    as4(lines[y][4 * x]) = as4(acc[r][0]);
    as4(lines[y][WarpW / 2 + 4 * x]) = as4(acc[r][4]);
    __syncwarp();
    for (int v = 0; v < LanesY; ++v) {
      const int row = by + wy + r * LanesY + v;
      if (row >= j) break;
      float* to = P + size_t(row) * l;
      for (int c = lane; c < WarpW; c += 32)
        if (bx + wx + c < l) to[bx + wx + c] = lines[v][c];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto blocks = [](int n) { return (n + cfg::Block - 1) / cfg::Block; };
  wide_warps<<<dim3(blocks(l), blocks(j)), cfg::Threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
