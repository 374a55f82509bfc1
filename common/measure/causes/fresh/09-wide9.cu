// Lab 09: warp tiles of 32 x 64 (4 x 8 lanes), four warps down and two across.
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int H = 128, W = 128, D = 16;  // block tile, depth of a phase
constexpr int WH = 32, WW = 64;          // warp tile
constexpr int R = 8, C = 8;              // results of a lane
constexpr int LY = WH / R, LX = WW / C;  // 4 x 8 lanes
constexpr int NT = 256;
}  // namespace cfg
using namespace cfg;

#define V4(p) (*(float4*)(p))

struct Pair {
  float m[H][D + 4];
  float n[D][W];
};

__device__ void bring(float* dst, const float* mat, int nr, int nc, int r, int c) {
  const float* at = mat + (size_t)r * nc + c;
  if (nc & 3) {
    for (int q = 0; q < 4; ++q, ++c, ++at, ++dst) {
      bool in = r < nr && c < nc;
      copy_async<4>(dst, in ? at : mat, in);
    }
    return;
  }
  bool in = r < nr && c < nc;
  copy_async<16>(dst, in ? at : mat, in);
}

__device__ void bring_pair(Pair& to, const float* M, const float* N, int j, int k, int l, int k0) {
  int y0 = blockIdx.y * H, x0 = blockIdx.x * W;
  for (int u = threadIdx.x; u < H * D / 4; u += NT) {
    int r = u / (D / 4), z = u % (D / 4) * 4;
    bring(&to.m[r][z], M, j, k, y0 + r, k0 + z);
  }
  for (int u = threadIdx.x; u < D * W / 4; u += NT) {
    int z = u / (W / 4), c = u % (W / 4) * 4;
    bring(&to.n[z][c], N, k, l, k0 + z, x0 + c);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(NT, 2)
    wide(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Pair pair[2];
  __shared__ alignas(16) float exit_rows[NT / 32][LY][WW + 16];

  const int w = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int wy = (w >> 1) * WH, wx = (w & 1) * WW;
  // bits 1 and 3 of the lane are its row, bits 0, 2 and 4 its column
  const int ly = (lane >> 1 & 1) | (lane >> 3 & 1) << 1;
  const int lx = (lane & 1) | (lane >> 2 & 1) << 1 | (lane >> 4) << 2;

  alignas(16) float acc[R][C] = {};
  bring_pair(pair[0], M, N, j, k, l, 0);
  int now = 0;
  for (int k0 = 0; k0 < k; k0 += D) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + D < k) bring_pair(pair[now ^ 1], M, N, j, k, l, k0 + D);

    Pair& cur = pair[now];
    for (int z = 0; z < D; z += 4) {
      alignas(16) float a[R][4], b[C];
      for (int r = 0; r < R; ++r) V4(a[r]) = V4(&cur.m[wy + ly + r * LY][z]);
      for (int s = 0; s < 4; ++s) {
        V4(b) = V4(&cur.n[z + s][wx + 4 * lx]);
        V4(b + 4) = V4(&cur.n[z + s][wx + WW / 2 + 4 * lx]);
        for (int r = 0; r < R; ++r)
          for (int c = 0; c < C; ++c) acc[r][c] += a[r][s] * b[c];
      }
    }
    now ^= 1;
  }

  float(*mine)[WW + 16] = exit_rows[w];
  for (int r = 0; r < R; ++r) {
    V4(&mine[ly][4 * lx]) = V4(acc[r]);
    V4(&mine[ly][WW / 2 + 4 * lx]) = V4(acc[r] + 4);
    __syncwarp();
    for (int y = 0; y < LY; ++y) {
      int row = blockIdx.y * H + wy + r * LY + y;
      if (row >= j) continue;
      for (int x = lane; x < WW; x += 32) {
        int col = blockIdx.x * W + wx + x;
        if (col < l) P[(size_t)row * l + col] = mine[y][x];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 blocks;
  blocks.x = (l + W - 1) / W;
  blocks.y = (j + H - 1) / H;
  wide<<<blocks, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
