// Olu A., lab 09: warp tiles of 32 x 64, 4 x 8 lanes (question 1)
#include "check.h"
#include "copy_async.h"

enum : int {
  SIDE = 128,             // of the block's part of P
  DEPTH = 16,             // of a phase
  WARP_H = 32,            // rows of a warp
  WARP_W = 64,            // columns of a warp
  LANES_Y = 4,
  LANES_X = 8,
  ROWS = WARP_H / LANES_Y,  // of a thread: 8
  M_LINE = DEPTH + 4,
  OUT_LINE = WARP_W + 16,
  N_THREADS = 256
};

struct Stage {
  float m[SIDE][M_LINE];
  float n[DEPTH][SIDE];
};

__device__ float4 ld4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void st4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

struct Source {
  const float* base;
  int rows, cols;
  __device__ void send(float* to, int r, int c) const {
    const float* from = base + size_t(r) * cols + c;
    if (cols % 4 == 0) {
      bool in = r < rows && c < cols;
      copy_async<16>(to, in ? from : base, in);
      return;
    }
    for (int i = 0; i < 4; ++i) {
      bool in = r < rows && c + i < cols;
      copy_async<4>(to + i, in ? from + i : base, in);
    }
  }
};

__device__ void fetch(Stage& s, Source m, Source n, int row, int col, int z) {
  for (int pass = 0; pass < 2; ++pass) {
    int id = threadIdx.x + pass * N_THREADS;
    m.send(&s.m[id / 4][id % 4 * 4], row + id / 4, z + id % 4 * 4);
    n.send(&s.n[id / 32][id % 32 * 4], z + id / 32, col + id % 32 * 4);
  }
  __pipeline_commit();
}

__device__ void outer(float (&sum)[8], float f, float4 a, float4 b) {
  sum[0] += f * a.x, sum[1] += f * a.y, sum[2] += f * a.z, sum[3] += f * a.w;
  sum[4] += f * b.x, sum[5] += f * b.y, sum[6] += f * b.z, sum[7] += f * b.w;
}

__global__ void __launch_bounds__(N_THREADS, 2) warps(Source m, Source n, float* P) {
  __shared__ alignas(16) Stage stage[2];
  __shared__ alignas(16) float way_out[8][LANES_Y][OUT_LINE];

  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int y = (lane >> 1 & 1) | (lane >> 3 & 1) << 1;
  int x = (lane & 1) | (lane >> 2 & 1) << 1 | (lane >> 4 & 1) << 2;
  int row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
  int wy = warp / 2 * WARP_H, wx = warp % 2 * WARP_W;

  float sum[ROWS][8] = {};
  int now = 0;
  fetch(stage[0], m, n, row0, col0, 0);
  for (int z = 0; z < m.cols; z += DEPTH, now ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (z + DEPTH < m.cols) fetch(stage[now ^ 1], m, n, row0, col0, z + DEPTH);

    const Stage& s = stage[now];
    for (int i = 0; i < DEPTH; i += 4) {
      float4 f[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) f[r] = ld4(&s.m[wy + y + r * LANES_Y][i]);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        float4 a = ld4(&s.n[i + q][wx + 4 * x]);
        float4 b = ld4(&s.n[i + q][wx + 4 * x + WARP_W / 2]);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) outer(sum[r], (&f[r].x)[q], a, b);
      }
    }
  }

  auto& mine = way_out[warp];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    st4(&mine[y][4 * x], make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]));
    st4(&mine[y][4 * x + WARP_W / 2], make_float4(sum[r][4], sum[r][5], sum[r][6], sum[r][7]));
    __syncwarp();
    for (int line = 0; line < LANES_Y; ++line) {
      int row = row0 + wy + r * LANES_Y + line;
      for (int c = lane; c < WARP_W; c += 32) {
        int col = col0 + wx + c;
        if (row < m.rows && col < n.cols) P[size_t(row) * n.cols + col] = mine[line][c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Source m{M, j, k}, n{N, k, l};
  int wide = (l + SIDE - 1) / SIDE, high = (j + SIDE - 1) / SIDE;
  warps<<<dim3(wide, high), N_THREADS>>>(m, n, P);
  CHECK(cudaGetLastError());
}
