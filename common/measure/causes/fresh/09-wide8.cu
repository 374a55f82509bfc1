// Lab 09 with warp tiles of 32 x 64: lanes lie 4 x 8. Names as in my particle code: b = block,
// w = warp, t = thread.
#include "check.h"
#include "copy_async.h"

constexpr int bR = 128, bC = 128, bK = 16;
constexpr int wR = 32, wC = 64;
constexpr int tR = 8, tC = 8;
constexpr int laneRows = wR / tR, laneCols = wC / tC;  // 4, 8
constexpr int warps = (bR / wR) * (bC / wC);           // 8
constexpr int threads = 32 * warps;
constexpr int half = wC / 2;  // from a lane's first four columns to its others

__device__ inline int bit(int v, int b) { return v >> b & 1; }

__device__ inline float4 get4(const float* s) { return *reinterpret_cast<const float4*>(s); }
__device__ inline void set4(float* s, float4 v) { *reinterpret_cast<float4*>(s) = v; }

// Q floats at a time, Q being 4 or 1.
template <int Q>
__device__ void bring(float* to, const float* A, int rows, int cols, int r, int c) {
  for (int s = 0; s < 4; s += Q) {
    const bool in = r < rows && c + s < cols;
    const float* from = in ? A + size_t(r) * cols + c + s : A;
    copy_async<4 * Q>(to + s, from, in);
  }
}

__device__ void bringAny(float* to, const float* A, int rows, int cols, int r, int c) {
  if (cols % 4 == 0)
    bring<4>(to, A, rows, cols, r, c);
  else
    bring<1>(to, A, rows, cols, r, c);
}

__global__ void __launch_bounds__(threads, 2)
    wideKernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) float sM[2][bR][bK + 4];
  __shared__ alignas(16) float sN[2][bK][bC];
  __shared__ alignas(16) float gate[warps][laneRows][wC + 16];

  const int id = threadIdx.x, lane = id & 31, warp = id >> 5;
  const int bRow = blockIdx.y * bR, bCol = blockIdx.x * bC;
  const int wRow = (warp >> 1) * wR, wCol = (warp & 1) * wC;
  const int lx = bit(lane, 0) + 2 * bit(lane, 2) + 4 * bit(lane, 3);
  const int ly = bit(lane, 1) + 2 * bit(lane, 4);

  auto load = [&](int stage, int k0) {
#pragma unroll
    for (int e = id; e < bR * bK / 4; e += threads) {
      const int r = e / (bK / 4), i = e % (bK / 4) * 4;
      bringAny(&sM[stage][r][i], M, j, k, bRow + r, k0 + i);
    }
#pragma unroll
    for (int e = id; e < bK * bC / 4; e += threads) {
      const int i = e / (bC / 4), c = e % (bC / 4) * 4;
      bringAny(&sN[stage][i][c], N, k, l, k0 + i, bCol + c);
    }
    __pipeline_commit();
  };

  float acc[tR][tC] = {};
  int stage = 0;
  load(stage, 0);
  for (int k0 = 0; k0 < k; k0 += bK) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + bK < k) load(stage ^ 1, k0 + bK);

    for (int i = 0; i < bK; i += 4) {
      float4 a[tR];
      for (int r = 0; r < tR; ++r) a[r] = get4(&sM[stage][wRow + ly + r * laneRows][i]);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float* line = &sN[stage][i + s][wCol + 4 * lx];
        const float4 u = get4(line), v = get4(line + half);
        const float b[tC] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
        for (int r = 0; r < tR; ++r) {
          const float f = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
          for (int c = 0; c < tC; ++c) acc[r][c] += f * b[c];
        }
      }
    }
    stage ^= 1;
  }

#pragma unroll
  for (int r = 0; r < tR; ++r) {
    float* mine = &gate[warp][ly][4 * lx];
    set4(mine, make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]));
    set4(mine + half, make_float4(acc[r][4], acc[r][5], acc[r][6], acc[r][7]));
    __syncwarp();
#pragma unroll
    for (int y = 0; y < laneRows; ++y) {
      const int row = bRow + wRow + r * laneRows + y;
#pragma unroll
      for (int c = lane; c < wC; c += 32) {
        const int col = bCol + wCol + c;
        if (row < j && col < l) P[size_t(row) * l + col] = gate[warp][y][c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + bC - 1) / bC, (j + bR - 1) / bR);
  wideKernel<<<grid, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
