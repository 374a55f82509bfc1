// Lab 08 with three stages and NVIDIA's own call for the copies: two phases are on their way while
// one is used. Stages go round in a ring.
#include <cuda_pipeline.h>

#include "check.h"

constexpr int BLOCK = 64, DEPTH = 16, RING = 3;
constexpr int T = 256;

struct Stage {
  alignas(16) float m[BLOCK][DEPTH];
  alignas(16) float n[DEPTH][BLOCK];
};

struct Matrix {
  const float* at;
  int rows, cols;
};

__device__ void bring4(float* dst, const Matrix& a, int r, int c) {
  const float* src = a.at + size_t(r) * a.cols + c;
  const int there = r < a.rows ? a.cols - c : 0;  // how many of this row are left
  if (a.cols % 4 == 0) {
    const bool yes = there > 0;
    __pipeline_memcpy_async(dst, yes ? src : a.at, 16, yes ? 0 : 16);
  } else {
    for (int w = 0; w < 4; ++w) {
      const bool yes = w < there;
      __pipeline_memcpy_async(dst + w, yes ? src + w : a.at, 4, yes ? 0 : 4);
    }
  }
}

__device__ void bring(Stage& s, const Matrix& m, const Matrix& n, int row, int col, int ph) {
  const int t = threadIdx.x;
  bring4(&s.m[t / 4][t % 4 * 4], m, row + t / 4, ph * DEPTH + t % 4 * 4);
  bring4(&s.n[t / 16][t % 16 * 4], n, ph * DEPTH + t / 16, col + t % 16 * 4);
}

__device__ float4 quad(const float* p) { return *reinterpret_cast<const float4*>(p); }

__global__ void ring_kernel(Matrix m, Matrix n, float* P) {
  __shared__ Stage ring[RING];
  const int row = blockIdx.y * BLOCK, col = blockIdx.x * BLOCK;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int phases = (m.cols + DEPTH - 1) / DEPTH;

  for (int ph = 0; ph < RING - 1; ++ph) {
    if (ph < phases) bring(ring[ph], m, n, row, col, ph);
    __pipeline_commit();  // a group for each phase, be it empty
  }

  float sum[4][4] = {};
  int use = 0, fill = RING - 1;
  for (int ph = 0; ph < phases; ++ph) {
    __pipeline_wait_prior(RING - 2);
    __syncthreads();
    if (ph + RING - 1 < phases) bring(ring[fill], m, n, row, col, ph + RING - 1);
    __pipeline_commit();

    const Stage& s = ring[use];
    for (int i = 0; i < DEPTH; i += 4) {
      float4 b[4];
      for (int d = 0; d < 4; ++d) b[d] = quad(&s.n[i + d][4 * tx]);
      for (int r = 0; r < 4; ++r) {
        const float4 a = quad(&s.m[ty + 16 * r][i]);
        const float av[4] = {a.x, a.y, a.z, a.w};
        for (int d = 0; d < 4; ++d) {
          sum[r][0] += av[d] * b[d].x;
          sum[r][1] += av[d] * b[d].y;
          sum[r][2] += av[d] * b[d].z;
          sum[r][3] += av[d] * b[d].w;
        }
      }
    }
    if (++use == RING) use = 0;
    if (++fill == RING) fill = 0;
  }

  const int x = col + 4 * tx;
  for (int r = 0; r < 4; ++r) {
    const int y = row + ty + 16 * r;
    if (y >= m.rows || x >= n.cols) continue;
    float* to = P + size_t(y) * n.cols + x;
    if (n.cols % 4 == 0) {
      *reinterpret_cast<float4*>(to) = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
    } else {
      for (int c = 0; c < 4 && x + c < n.cols; ++c) to[c] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 blocks((l + BLOCK - 1) / BLOCK, (j + BLOCK - 1) / BLOCK);
  ring_kernel<<<blocks, T>>>(Matrix{M, j, k}, Matrix{N, k, l}, P);
  CHECK(cudaGetLastError());
}
