// Lab 09: warp tiles. Two buffers that are flipped, places of lanes by bit fiddling.
#include "check.h"
#include "copy_async.h"

static constexpr int BLK = 128;             // rows and columns of a block
static constexpr int DEEP = 16;             // steps in a phase
static constexpr int WROWS = 64, WCOLS = 32;  // of a warp
static constexpr int NTHR = 256;
static constexpr int PITCH_A = DEEP + 4;
static constexpr int PITCH_O = WCOLS + 16;

struct Buffers {
  float a[2][BLK * PITCH_A];
  float b[2][DEEP * BLK];
  float o[NTHR / 32][8 * PITCH_O];
};

__device__ inline float4* v4(float* p) { return reinterpret_cast<float4*>(p); }

__device__ void bring(float* to, const float* src, int rows, int cols, int r, int c) {
  const bool row_ok = r < rows;
  if ((cols & 3) == 0) {
    const bool ok = row_ok && c < cols;
    copy_async<16>(to, ok ? src + size_t(r) * cols + c : src, ok);
  } else {
    for (int q = 0; q < 4; ++q, ++c, ++to) {
      const bool ok = row_ok && c < cols;
      copy_async<4>(to, ok ? src + size_t(r) * cols + c : src, ok);
    }
  }
}

__global__ void __launch_bounds__(NTHR, 2)
    warps(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Buffers sh;
  const int t = threadIdx.x;
  const int w = t >> 5, lane = t & 31;
  const int by = blockIdx.y * BLK, bx = blockIdx.x * BLK;
  const int wy = (w >> 2) * WROWS, wx = (w & 3) * WCOLS;
  // bits of a lane: 4 3 1 are y, 2 0 are x
  const int y = ((lane >> 1) & 1) | ((lane >> 2) & 6);
  const int x = (lane & 1) | ((lane >> 1) & 2);

  auto ask = [&](int buf, int z) {
    for (int q = 0; q < 2; ++q) {
      const int r = (t >> 2) + 64 * q, c = (t & 3) * 4;
      bring(&sh.a[buf][r * PITCH_A + c], M, j, k, by + r, z + c);
    }
    for (int q = 0; q < 2; ++q) {
      const int r = (t >> 5) + 8 * q, c = (t & 31) * 4;
      bring(&sh.b[buf][r * BLK + c], N, k, l, z + r, bx + c);
    }
    __pipeline_commit();
  };

  float acc[8][8] = {};
  int buf = 0;
  ask(buf, 0);
  for (int z = 0; z < k; z += DEEP) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (z + DEEP < k) ask(buf ^ 1, z + DEEP);

    float* a = &sh.a[buf][(wy + y) * PITCH_A];
    float* b = &sh.b[buf][wx + 4 * x];
    for (int s = 0; s < DEEP; s += 4) {
      alignas(16) float m[8][4], n[8];
      for (int r = 0; r < 8; ++r) *v4(m[r]) = *v4(a + 8 * r * PITCH_A + s);
      for (int u = 0; u < 4; ++u) {
        *v4(n) = *v4(b + (s + u) * BLK);
        *v4(n + 4) = *v4(b + (s + u) * BLK + 16);
        for (int r = 0; r < 8; ++r)
          for (int c = 0; c < 8; ++c) acc[r][c] += m[r][u] * n[c];
      }
    }
    buf ^= 1;
  }

  float* mine = sh.o[w];
  const int col = bx + wx + lane;
  for (int r = 0; r < 8; ++r) {
    float* line = mine + y * PITCH_O + 4 * x;
    *v4(line) = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    *v4(line + 16) = make_float4(acc[r][4], acc[r][5], acc[r][6], acc[r][7]);
    __syncwarp();
    for (int q = 0; q < 8; ++q) {
      const int row = by + wy + 8 * r + q;
      if (row < j && col < l) P[size_t(row) * l + col] = mine[q * PITCH_O + lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto blocks = [](int n) { return unsigned(n + BLK - 1) / BLK; };
  warps<<<dim3(blocks(l), blocks(j)), NTHR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
