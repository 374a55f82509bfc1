// Lab 09: warp tiles of 32 x 64, four rows of eight lanes.
#include "check.h"
#include "copy_async.h"

namespace geo {
constexpr int edge = 128;            // of the block's part of P
constexpr int high = 32, wide = 64;  // of a warp's part
constexpr int lane_rows = 4, lane_cols = 8;
constexpr int each = 8;              // results of a lane: each x each
constexpr int deep = 16;
constexpr int warps = edge / high * (edge / wide);  // 8
constexpr int threads = 32 * warps;
constexpr int gap = wide / 2;        // from a lane's first four columns to its last four
}  // namespace geo

struct Buffers {
  float a[2][geo::edge][geo::deep + 4];
  float b[2][geo::deep][geo::edge];
  float rows[geo::warps][geo::lane_rows][geo::wide + 16];
};

__device__ float4 get4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void set4(float* p, const float* from) {
  *reinterpret_cast<float4*>(p) = make_float4(from[0], from[1], from[2], from[3]);
}

// compact bits: bit `from` of v, moved to bit `to`
__device__ constexpr int bit(int v, int from, int to) { return (v >> from & 1) << to; }

struct Who {
  int warp, lane, wr, wc, y, x;
  __device__ explicit Who(int t) {
    warp = t / 32;
    lane = t % 32;
    wr = warp % (geo::edge / geo::high) * geo::high;
    wc = warp / (geo::edge / geo::high) * geo::wide;
    y = bit(lane, 1, 0) | bit(lane, 3, 1);
    x = bit(lane, 0, 0) | bit(lane, 2, 1) | bit(lane, 4, 2);
  }
};

__device__ void bring(float* to, const float* src, int nr, int nc, int r, int c) {
  if (nc % 4 == 0) {
    const bool in = r < nr && c < nc;
    copy_async<16>(to, in ? src + size_t(r) * nc + c : src, in);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e, ++c) {
      const bool in = r < nr && c < nc;
      copy_async<4>(to + e, in ? src + size_t(r) * nc + c : src, in);
    }
  }
}

__global__ void __launch_bounds__(geo::threads, 2)
    mosaic(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Buffers sh;
  const int t = threadIdx.x;
  const Who me(t);
  const int r0 = blockIdx.y * geo::edge, c0 = blockIdx.x * geo::edge;

  auto request = [&](int side, int k0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int ar = t / 4 + 64 * half, ac = t % 4 * 4;
      bring(&sh.a[side][ar][ac], M, j, k, r0 + ar, k0 + ac);
      const int br = t / 32 + 8 * half, bc = t % 32 * 4;
      bring(&sh.b[side][br][bc], N, k, l, k0 + br, c0 + bc);
    }
    __pipeline_commit();
  };

  float acc[geo::each][geo::each] = {};
  int side = 0;
  request(side, 0);
  for (int k0 = 0; k0 < k; k0 += geo::deep, side ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + geo::deep < k) request(side ^ 1, k0 + geo::deep);

#pragma unroll
    for (int i = 0; i < geo::deep; i += 4) {
      float4 a[geo::each];
#pragma unroll
      for (int r = 0; r < geo::each; ++r) {
        a[r] = get4(&sh.a[side][me.wr + me.y + r * geo::lane_rows][i]);
      }
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float* line = sh.b[side][i + s] + me.wc + 4 * me.x;
        const float4 p = get4(line), q = get4(line + geo::gap);
        const float b[geo::each] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
#pragma unroll
        for (int r = 0; r < geo::each; ++r) {
          const float f = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
#pragma unroll
          for (int c = 0; c < geo::each; ++c) acc[r][c] += f * b[c];
        }
      }
    }
  }

  auto& rows = sh.rows[me.warp];
#pragma unroll
  for (int r = 0; r < geo::each; ++r) {
    set4(&rows[me.y][4 * me.x], &acc[r][0]);
    set4(&rows[me.y][4 * me.x + geo::gap], &acc[r][4]);
    __syncwarp();
    for (int h = 0; h < 2 * geo::lane_rows; ++h) {  // half rows
      const int line = h / 2, c = h % 2 * 32 + me.lane;
      const int row = r0 + me.wr + r * geo::lane_rows + line;
      const int col = c0 + me.wc + c;
      if (row < j && col < l) P[size_t(row) * l + col] = rows[line][c];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + geo::edge - 1) / geo::edge, (j + geo::edge - 1) / geo::edge);
  mosaic<<<grid, geo::threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
