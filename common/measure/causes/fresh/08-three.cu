// Lab 08 with a ring of three stages: two groups of copies are under way.
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int rows = 64, cols = 64, depth = 16;
constexpr int threads = 256;
constexpr int ring = 3;
}  // namespace cfg

struct Stage {
  alignas(16) float m[cfg::rows * cfg::depth];
  alignas(16) float n[cfg::depth * cfg::cols];
};

__device__ float4 read4(const float* p) { return *reinterpret_cast<const float4*>(p); }

// Copies src[y][x .. x + 3] of an h x w matrix.
__device__ void send(float* dst, const float* src, int h, int w, int y, int x) {
  const size_t at = size_t(y) * w + x;
  if ((w & 3) != 0) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const bool there = y < h && x + q < w;
      copy_async<4>(dst + q, there ? src + at + q : src, there);
    }
    return;
  }
  const bool there = y < h && x < w;
  copy_async<16>(dst, there ? src + at : src, there);
}

__device__ void send_stage(Stage& st, const float* M, const float* N, int j, int k, int l, int k0) {
  const int t = threadIdx.x;
  const int mr = t / (cfg::depth / 4), mc = t % (cfg::depth / 4) * 4;
  const int nr = t / (cfg::cols / 4), nc = t % (cfg::cols / 4) * 4;
  send(st.m + mr * cfg::depth + mc, M, j, k, blockIdx.y * cfg::rows + mr, k0 + mc);
  send(st.n + nr * cfg::cols + nc, N, k, l, k0 + nr, blockIdx.x * cfg::cols + nc);
}

__global__ void __launch_bounds__(cfg::threads) ring_kernel(const float* M, const float* N, float* P,
                                                            int j, int k, int l) {
  __shared__ Stage stages[cfg::ring];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;

  float4 acc[4] = {};
  const int total = (k + cfg::depth - 1) / cfg::depth;

  for (int s = 0; s < cfg::ring - 1; ++s) {
    if (s < total) send_stage(stages[s], M, N, j, k, l, s * cfg::depth);
    __pipeline_commit();
  }

  int use = 0, fill = cfg::ring - 1;
  for (int step = 0; step < total; ++step) {
    __pipeline_wait_prior(cfg::ring - 2);
    __syncthreads();

    const int ahead = step + cfg::ring - 1;
    if (ahead < total) send_stage(stages[fill], M, N, j, k, l, ahead * cfg::depth);
    __pipeline_commit();  // also when empty, so that the count stays right

    const Stage& st = stages[use];
#pragma unroll
    for (int i = 0; i < cfg::depth; i += 4) {
      float4 b[4];
      for (int q = 0; q < 4; ++q) b[q] = read4(st.n + (i + q) * cfg::cols + 4 * tx);
      for (int r = 0; r < 4; ++r) {
        const float4 a = read4(st.m + (ty + 16 * r) * cfg::depth + i);
        acc[r].x += a.x * b[0].x + a.y * b[1].x + a.z * b[2].x + a.w * b[3].x;
        acc[r].y += a.x * b[0].y + a.y * b[1].y + a.z * b[2].y + a.w * b[3].y;
        acc[r].z += a.x * b[0].z + a.y * b[1].z + a.z * b[2].z + a.w * b[3].z;
        acc[r].w += a.x * b[0].w + a.y * b[1].w + a.z * b[2].w + a.w * b[3].w;
      }
    }
    use = use + 1 == cfg::ring ? 0 : use + 1;
    fill = fill + 1 == cfg::ring ? 0 : fill + 1;
  }

  const int col = blockIdx.x * cfg::cols + 4 * tx;
  for (int r = 0; r < 4; ++r) {
    const int row = blockIdx.y * cfg::rows + ty + 16 * r;
    if (row >= j) break;
    float* to = P + size_t(row) * l + col;
    if (l % 4 == 0) {
      if (col < l) *reinterpret_cast<float4*>(to) = acc[r];
      continue;
    }
    const float v[4] = {acc[r].x, acc[r].y, acc[r].z, acc[r].w};
    for (int q = 0; q < 4 && col + q < l; ++q) to[q] = v[q];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + cfg::cols - 1) / cfg::cols, (j + cfg::rows - 1) / cfg::rows);
  ring_kernel<<<grid, cfg::threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
