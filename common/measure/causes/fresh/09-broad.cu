// Warp tiles that are broader than high: 32 x 64, with 4 x 8 lanes.
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int Block = 128, Depth = 16, Threads = 256;
constexpr int WarpH = 32, WarpW = 64;
constexpr int PitchM = Depth + 4, PitchOut = WarpW + 16;
}  // namespace cfg
using namespace cfg;

struct Buffers {
  float m[2][Block][PitchM];
  float n[2][Depth][Block];
  float out[Threads / 32][4][PitchOut];
};

struct Lane {
  int y, x;
  __device__ explicit Lane(int id)
      : y((id >> 1 & 1) | (id >> 3 & 1) << 1),                       // bits 1 and 3
        x((id & 1) | (id >> 2 & 1) << 1 | (id >> 4 & 1) << 2) {}     // bits 0, 2 and 4
};

__device__ float4 read4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void write4(float* p, const float* v) {
  *reinterpret_cast<float4*>(p) = make_float4(v[0], v[1], v[2], v[3]);
}

__device__ void ship(float* to, const float* A, int rows, int cols, int row, int col) {
  const float* from = A + size_t(row) * cols + col;
  if (cols % 4) {
    for (int c = 0; c < 4; ++c) {
      const bool real = row < rows && col + c < cols;
      copy_async<4>(to + c, real ? from + c : A, real);
    }
  } else {
    const bool real = row < rows && col < cols;
    copy_async<16>(to, real ? from : A, real);
  }
}

__global__ void __launch_bounds__(Threads, 2)
    broad(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Buffers sh;
  const int t = threadIdx.x, w = t >> 5, id = t & 31;
  const Lane lane(id);
  const int row0 = blockIdx.y * Block, col0 = blockIdx.x * Block;
  const int wy = w / 2 * WarpH, wx = w % 2 * WarpW;

  auto order = [&](int z, int stage) {
    for (int r = t / 4; r < Block; r += Threads / 4) {
      ship(&sh.m[stage][r][t % 4 * 4], M, j, k, row0 + r, z + t % 4 * 4);
    }
    for (int r = t / 32; r < Depth; r += Threads / 32) {
      ship(&sh.n[stage][r][id * 4], N, k, l, z + r, col0 + id * 4);
    }
    __pipeline_commit();
  };

  float acc[8][8] = {};
  int stage = 0;
  order(0, stage);
  for (int z = 0; z < k; z += Depth, stage ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (z + Depth < k) order(z + Depth, stage ^ 1);

    for (int i = 0; i < Depth; i += 4) {
      float4 a[8];
#pragma unroll
      for (int r = 0; r < 8; ++r) a[r] = read4(&sh.m[stage][wy + lane.y + 4 * r][i]);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float4 b0 = read4(&sh.n[stage][i + s][wx + lane.x * 4]);
        const float4 b1 = read4(&sh.n[stage][i + s][wx + lane.x * 4 + 32]);
        const float b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
        for (int r = 0; r < 8; ++r) {
          const float f = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
#pragma unroll
          for (int c = 0; c < 8; ++c) acc[r][c] += f * b[c];
        }
      }
    }
  }

#pragma unroll
  for (int r = 0; r < 8; ++r) {
    write4(&sh.out[w][lane.y][lane.x * 4], &acc[r][0]);
    write4(&sh.out[w][lane.y][lane.x * 4 + 32], &acc[r][4]);
    __syncwarp();
    for (int line = 0; line < 4; ++line) {
      const int row = row0 + wy + 4 * r + line;
      for (int c = id; c < WarpW; c += 32) {
        const int col = col0 + wx + c;
        if (row < j && col < l) P[size_t(row) * l + col] = sh.out[w][line][c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + Block - 1) / Block, (j + Block - 1) / Block);
  broad<<<grid, Threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
