// Lab 09. The place of every lane is worked out once, in a struct; stages are toggled, not counted.
#include "check.h"
#include "copy_async.h"

constexpr int BLOCK = 128, DEPTH = 16, WARPS = 8;
constexpr int WARP_H = 64, WARP_W = 32, PER = 8;
constexpr int OUT_PITCH = WARP_W + 16;

struct Buffers {
  float a[2][BLOCK][DEPTH + 4];
  float b[2][DEPTH][BLOCK];
  float out[WARPS][8][OUT_PITCH];
};

struct Place {
  int warp, lane, down, right;  // down and right: corner of the warp's tile in the block's
  int y, x;                     // of the lane in a grid of 8 x 4
  __device__ explicit Place(int t) : warp(t >> 5), lane(t & 31) {
    down = (warp >> 2) * WARP_H;
    right = (warp & 3) * WARP_W;
    int b0 = lane & 1, b1 = lane >> 1 & 1, b2 = lane >> 2 & 1, b34 = lane >> 3;
    y = b34 << 1 | b1;
    x = b2 << 1 | b0;
  }
};

__device__ float4 get4(const float* from) { return *reinterpret_cast<const float4*>(from); }
__device__ void set4(float* to, float a, float b, float c, float d) {
  *reinterpret_cast<float4*>(to) = make_float4(a, b, c, d);
}

__device__ void bring(float* to, const float* A, int rows, int cols, int row, int col) {
  const bool aligned = (cols & 3) == 0;
  const float* from = A + size_t(row) * cols + col;
  if (aligned) {
    bool there = row < rows && col < cols;
    copy_async<16>(to, there ? from : A, there);
    return;
  }
  for (int n = 0; n < 4; ++n) {
    bool there = row < rows && col + n < cols;
    copy_async<4>(to + n, there ? from + n : A, there);
  }
}

__global__ void __launch_bounds__(256, 2)
    product(const float* A, const float* B, float* C, int j, int k, int l) {
  __shared__ alignas(16) Buffers sh;
  const Place me(threadIdx.x);
  const int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;

  auto order = [&](int stage, int from_k) {
    for (int n = 0; n < 2; ++n) {
      int q = threadIdx.x + 256 * n;  // which float4 of the 512 of a tile
      bring(&sh.a[stage][q / 4][q % 4 * 4], A, j, k, top + q / 4, from_k + q % 4 * 4);
      bring(&sh.b[stage][q / 32][q % 32 * 4], B, k, l, from_k + q / 32, left + q % 32 * 4);
    }
    __pipeline_commit();
  };

  float c[PER][PER] = {};
  int stage = 0;
  order(stage, 0);
  for (int done = 0; done < k; done += DEPTH) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (done + DEPTH < k) order(stage ^ 1, done + DEPTH);

    for (int i = 0; i < DEPTH; i += 4) {
      float4 a[PER];
      for (int r = 0; r < PER; ++r) a[r] = get4(&sh.a[stage][me.down + me.y + 8 * r][i]);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float* row = sh.b[stage][i + s] + me.right + 4 * me.x;
        float4 b = get4(row), d = get4(row + 16);
        for (int r = 0; r < PER; ++r) {
          float f = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
          c[r][0] += f * b.x, c[r][1] += f * b.y, c[r][2] += f * b.z, c[r][3] += f * b.w;
          c[r][4] += f * d.x, c[r][5] += f * d.y, c[r][6] += f * d.z, c[r][7] += f * d.w;
        }
      }
    }
    stage ^= 1;
  }

  float(*mine)[OUT_PITCH] = sh.out[me.warp];
  const int col = left + me.right + me.lane;
  for (int r = 0; r < PER; ++r) {
    set4(&mine[me.y][4 * me.x], c[r][0], c[r][1], c[r][2], c[r][3]);
    set4(&mine[me.y][4 * me.x + 16], c[r][4], c[r][5], c[r][6], c[r][7]);
    __syncwarp();
    for (int s = 0, row = top + me.down + 8 * r; s < 8 && row < j; ++s, ++row) {
      if (col < l) C[size_t(row) * l + col] = mine[s][me.lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  product<<<dim3((l + 127) / 128, (j + 127) / 128), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
