// Lab 09. Bits of the lane, two stages that swap by exclusive or, results leave by way of shared.
#include "check.h"
#include "copy_async.h"

constexpr int B = 128;               // block: B x B
constexpr int K = 16;                // steps per phase
constexpr int NT = 256;
constexpr int MP = K + 4;            // pitch of a row of the tile of M
constexpr int OP = 32 + 16;          // pitch of a row on its way out

struct Place {
  int row, col;   // first of the warp in the block
  int y, x;       // of the lane in the warp: 8 x 4
  __device__ explicit Place(int t) {
    const int w = t >> 5;
    row = (w >> 2) * 64;
    col = (w & 3) * 32;
    const int b0 = t & 1, b1 = (t >> 1) & 1, b2 = (t >> 2) & 1, b34 = (t >> 3) & 3;
    x = (b2 << 1) | b0;
    y = (b34 << 1) | b1;
  }
};

__device__ void fetch4(float* to, const float* A, int rows, int cols, int r, int c) {
  if (cols & 3) {
    for (int z = 0; z < 4; ++z, ++c) {
      const bool in = r < rows && c < cols;
      copy_async<4>(to + z, in ? A + size_t(r) * cols + c : A, in);
    }
  } else {
    const bool in = r < rows && c < cols;
    copy_async<16>(to, in ? A + size_t(r) * cols + c : A, in);
  }
}

__global__ void __launch_bounds__(NT, 2)
    warps(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) float tm[2][B][MP];
  __shared__ alignas(16) float tn[2][K][B];
  __shared__ alignas(16) float way[NT / 32][8][OP];

  const int t = threadIdx.x;
  const Place at(t);
  const int top = blockIdx.y * B, left = blockIdx.x * B;

  auto order = [&](int stage, int k0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = half * 64 + t / 4, i = t % 4 * 4;
      fetch4(&tm[stage][r][i], M, j, k, top + r, k0 + i);
      const int d = half * 8 + t / 32, c = t % 32 * 4;
      fetch4(&tn[stage][d][c], N, k, l, k0 + d, left + c);
    }
    __pipeline_commit();
  };

  float sum[8][8] = {};
  int stage = 0;
  order(stage, 0);
  for (int k0 = 0; k0 < k; k0 += K) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + K < k) order(stage ^ 1, k0 + K);

    for (int i = 0; i < K; i += 4) {
      float4 m[8];
#pragma unroll
      for (int r = 0; r < 8; ++r)
        m[r] = *reinterpret_cast<const float4*>(&tm[stage][at.row + at.y + 8 * r][i]);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float* line = &tn[stage][i + s][at.col + 4 * at.x];
        const float4 lo = *reinterpret_cast<const float4*>(line);
        const float4 hi = *reinterpret_cast<const float4*>(line + 16);
#pragma unroll
        for (int r = 0; r < 8; ++r) {
          const float f = s == 0 ? m[r].x : s == 1 ? m[r].y : s == 2 ? m[r].z : m[r].w;
          sum[r][0] += f * lo.x, sum[r][1] += f * lo.y, sum[r][2] += f * lo.z, sum[r][3] += f * lo.w;
          sum[r][4] += f * hi.x, sum[r][5] += f * hi.y, sum[r][6] += f * hi.z, sum[r][7] += f * hi.w;
        }
      }
    }
    stage ^= 1;
  }

  float(*mine)[OP] = way[t >> 5];
  const int col = left + at.col + (t & 31);
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    float4* to = reinterpret_cast<float4*>(&mine[at.y][4 * at.x]);
    to[0] = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
    to[4] = make_float4(sum[r][4], sum[r][5], sum[r][6], sum[r][7]);
    __syncwarp();
    for (int s = 0; s < 8; ++s) {
      const int row = top + at.row + 8 * r + s;
      if (row < j && col < l) P[size_t(row) * l + col] = mine[s][t & 31];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = (l + B - 1) / B;
  grid.y = (j + B - 1) / B;
  warps<<<grid, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
