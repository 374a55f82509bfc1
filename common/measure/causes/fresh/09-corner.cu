#include <cuda_runtime.h>

#include "copy_async.h"

// 128 x 128 a block, 8 warps: 4 above each other, 2 side by side; a warp has 32 x 64 of it.
const int EDGE = 128, DEEP = 16, WARP_H = 32, WARP_W = 64, PAD = 4;

struct Mat {
  const float* p;
  int h, w;
};

__device__ float4& quad(float* p) { return *reinterpret_cast<float4*>(p); }

__device__ void ask(float* to, Mat a, int r, int c) {
  const float* from = a.p + (size_t)r * a.w + c;
  if (a.w % 4) {
    for (int i = 0; i < 4; ++i) {
      const bool good = r < a.h && c + i < a.w;
      copy_async<4>(to + i, good ? from + i : a.p, good);
    }
    return;
  }
  const bool good = r < a.h && c < a.w;
  copy_async<16>(to, good ? from : a.p, good);
}

// `HEIGHT` rows of `WIDTH` words from (r, c) on, with 256 threads.
template <int HEIGHT, int WIDTH, int PITCH>
__device__ void ask_tile(float* to, Mat a, int r, int c) {
  const int quads = WIDTH / 4;
  for (int q = threadIdx.x; q < HEIGHT * quads; q += 256) {
    ask(to + q / quads * PITCH + q % quads * 4, a, r + q / quads, c + q % quads * 4);
  }
}

__global__ void __launch_bounds__(256) corners(Mat a, Mat b, float* out) {
  __shared__ alignas(16) float left[2][EDGE * (DEEP + PAD)];
  __shared__ alignas(16) float right[2][DEEP * EDGE];
  __shared__ alignas(16) float line[8][8][WARP_W / 2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = warp / 2 * WARP_H, from = warp % 2 * WARP_W;
  const int v = lane / 4, h = lane % 4;  // 8 lanes down, 4 across
  const int y0 = blockIdx.y * EDGE, x0 = blockIdx.x * EDGE;
  alignas(16) float s[4][16] = {};

  ask_tile<EDGE, DEEP, DEEP + PAD>(left[0], a, y0, 0);
  ask_tile<DEEP, EDGE, EDGE>(right[0], b, 0, x0);
  __pipeline_commit();
  int now = 0;
  for (int z = 0; z < a.w; z += DEEP) {
    __pipeline_wait_prior(0);
    __syncthreads();
    const int next = 1 - now;
    if (z + DEEP < a.w) {
      ask_tile<EDGE, DEEP, DEEP + PAD>(left[next], a, y0, z + DEEP);
      ask_tile<DEEP, EDGE, EDGE>(right[next], b, z + DEEP, x0);
      __pipeline_commit();
    }
    for (int d = 0; d < DEEP; ++d) {
      float f[4];
      for (int i = 0; i < 4; ++i) f[i] = left[now][(top + v + 8 * i) * (DEEP + PAD) + d];
      for (int g = 0; g < 4; ++g) {
        const float4 n = quad(&right[now][d * EDGE + from + 16 * g + 4 * h]);
        for (int i = 0; i < 4; ++i) {
          s[i][4 * g] += f[i] * n.x;
          s[i][4 * g + 1] += f[i] * n.y;
          s[i][4 * g + 2] += f[i] * n.z;
          s[i][4 * g + 3] += f[i] * n.w;
        }
      }
    }
    now = next;
  }

  // Eight rows of 32 columns of the warp's part at a time.
  for (int piece = 0; piece < 8; ++piece) {
    const int i = piece / 2, half = piece % 2;
    quad(&line[warp][v][4 * h]) = quad(&s[i][8 * half]);
    quad(&line[warp][v][4 * h + 16]) = quad(&s[i][8 * half + 4]);
    __syncwarp();
    const int x = x0 + from + WARP_W / 2 * half + lane;
    for (int r = 0; r < 8; ++r) {
      const int y = y0 + top + 8 * i + r;
      if (y < a.h && x < b.w) out[(size_t)y * b.w + x] = line[warp][r][lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int across = (l + EDGE - 1) / EDGE, down = (j + EDGE - 1) / EDGE;
  corners<<<dim3(across, down), 256>>>(Mat{M, j, k}, Mat{N, k, l}, P);
}
