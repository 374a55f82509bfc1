// Lab 09: a struct for the place of a lane, offsets computed once, single flat tiles.
#include <cuda_pipeline.h>

#include "check.h"
#include "copy_async.h"

#define CHUNK 16
#define LDM (CHUNK + 4)  // words of a row of the tile of M
#define LDO 48           // words of a row on the way out
#define BIG 128

struct Place {
  int row, col;  // of the warp's part in the block's
  int dy, dx;    // of the lane in the warp
  int lane, id;
  __device__ explicit Place(int thread) {
    lane = thread & 31;
    id = thread >> 5;
    row = (id >> 2) << 6;
    col = (id & 3) << 5;
    dx = (lane & 1) | ((lane >> 1) & 2);
    dy = ((lane >> 1) & 1) | ((lane >> 2) & 6);
  }
};

__device__ void bring(float* to, const float* A, int rows, int cols, int r, int c) {
  if (cols % 4) {
    for (int n = 0; n < 4; n++, c++) {
      bool good = r < rows && c < cols;
      copy_async<4>(to + n, good ? A + size_t(r) * cols + c : A, good);
    }
  } else {
    bool good = r < rows && c < cols;
    copy_async<16>(to, good ? A + size_t(r) * cols + c : A, good);
  }
}

__global__ void __launch_bounds__(256, 2)
    warps(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) float tm[2][BIG * LDM];
  __shared__ alignas(16) float tn[2][CHUNK * BIG];
  __shared__ alignas(16) float way[8][8 * LDO];

  const int t = threadIdx.x;
  const Place me(t);
  const int y0 = blockIdx.y * BIG, x0 = blockIdx.x * BIG;

  // rows t / 4 and t / 4 + 64 of M, lines t / 32 and t / 32 + 8 of N
  const int mr = t / 4, mc = t % 4 * 4;
  const int nr = t / 32, nc = t % 32 * 4;
  auto order = [&](int buffer, int k0) {
    for (int h = 0; h < 2; h++) {
      bring(&tm[buffer][(mr + 64 * h) * LDM + mc], M, j, k, y0 + mr + 64 * h, k0 + mc);
      bring(&tn[buffer][(nr + 8 * h) * BIG + nc], N, k, l, k0 + nr + 8 * h, x0 + nc);
    }
    __pipeline_commit();
  };

  float acc[8][8];
#pragma unroll
  for (int i = 0; i < 64; i++) acc[i / 8][i % 8] = 0.0f;

  int buffer = 0;
  order(buffer, 0);
  for (int k0 = 0; k0 < k; k0 += CHUNK, buffer ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + CHUNK < k) order(buffer ^ 1, k0 + CHUNK);

    const float* mine_m = &tm[buffer][(me.row + me.dy) * LDM];
    const float* mine_n = &tn[buffer][me.col + 4 * me.dx];
#pragma unroll
    for (int i = 0; i < CHUNK; i += 4) {
      float4 a[8];
#pragma unroll
      for (int r = 0; r < 8; r++) a[r] = *(const float4*)(mine_m + 8 * r * LDM + i);
#pragma unroll
      for (int s = 0; s < 4; s++) {
        const float4 b0 = *(const float4*)(mine_n + (i + s) * BIG);
        const float4 b1 = *(const float4*)(mine_n + (i + s) * BIG + 16);
#pragma unroll
        for (int r = 0; r < 8; r++) {
          const float f = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
          acc[r][0] += f * b0.x, acc[r][1] += f * b0.y;
          acc[r][2] += f * b0.z, acc[r][3] += f * b0.w;
          acc[r][4] += f * b1.x, acc[r][5] += f * b1.y;
          acc[r][6] += f * b1.z, acc[r][7] += f * b1.w;
        }
      }
    }
  }

  float* strip = way[me.id];
  const int col = x0 + me.col + me.lane;
#pragma unroll
  for (int r = 0; r < 8; r++) {
    float* cell = strip + me.dy * LDO + 4 * me.dx;
    *(float4*)cell = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    *(float4*)(cell + 16) = make_float4(acc[r][4], acc[r][5], acc[r][6], acc[r][7]);
    __syncwarp();
    for (int s = 0; s < 8; s++) {
      const int row = y0 + me.row + 8 * r + s;
      if (row < j && col < l) P[size_t(row) * l + col] = strip[s * LDO + me.lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const unsigned gx = l / BIG + (l % BIG > 0), gy = j / BIG + (j % BIG > 0);
  warps<<<dim3(gx, gy), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
