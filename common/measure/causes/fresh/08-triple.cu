// Lab 08 with three stages: two phases on their way while one is used.
#include "check.h"
#include "copy_async.h"

static constexpr int kTile = 64, kDepth = 16, kStages = 3, kGrid = 16;

struct alignas(16) Stage {
  float m[kTile][kDepth];
  float n[kDepth][kTile];
};

struct Source {
  const float* data;
  int rows, cols;

  __device__ void copy(float* to, int row, int col) const {
    const float* from = data + size_t(row) * cols + col;
    if ((cols & 3) == 0) {
      const bool ok = row < rows && col < cols;
      copy_async<16>(to, ok ? from : data, ok);
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool ok = row < rows && col + i < cols;
      copy_async<4>(&to[i], ok ? &from[i] : data, ok);
    }
  }
};

__device__ float4 load(const float* p) { return *reinterpret_cast<const float4*>(p); }

__device__ void axpy(float4& acc, float a, float4 b) {
  acc.x += a * b.x;
  acc.y += a * b.y;
  acc.z += a * b.z;
  acc.w += a * b.w;
}

__global__ void ring_kernel(Source M, Source N, float* P) {
  __shared__ Stage ring[kStages];
  const int x = threadIdx.x, y = threadIdx.y, t = y * kGrid + x;
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  const int phases = (M.cols + kDepth - 1) / kDepth;

  auto request = [&](int phase) {
    if (phase < phases) {
      Stage& s = ring[phase % kStages];
      const int r = t / 4, q = t % 4 * 4;
      M.copy(&s.m[r][q], top + r, phase * kDepth + q);
      N.copy(&s.n[y][4 * x], phase * kDepth + y, left + 4 * x);
    }
    __pipeline_commit();  // an empty group, too, counts
  };

  for (int s = 0; s < kStages - 1; ++s) request(s);

  float4 acc[4] = {};
  for (int phase = 0; phase < phases; ++phase) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    request(phase + kStages - 1);

    const Stage& s = ring[phase % kStages];
#pragma unroll
    for (int i = 0; i < kDepth; i += 4) {
      float4 n0 = load(&s.n[i][4 * x]), n1 = load(&s.n[i + 1][4 * x]);
      float4 n2 = load(&s.n[i + 2][4 * x]), n3 = load(&s.n[i + 3][4 * x]);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float4 m = load(&s.m[y + kGrid * r][i]);
        axpy(acc[r], m.x, n0);
        axpy(acc[r], m.y, n1);
        axpy(acc[r], m.z, n2);
        axpy(acc[r], m.w, n3);
      }
    }
  }

  const int cols = N.cols, col = left + 4 * x;
  for (int r = 0; r < 4; ++r) {
    const int row = top + y + kGrid * r;
    if (row >= M.rows || col >= cols) continue;
    float* to = P + size_t(row) * cols + col;
    if (cols % 4 == 0) {
      *reinterpret_cast<float4*>(to) = acc[r];
      continue;
    }
    to[0] = acc[r].x;
    if (col + 1 < cols) to[1] = acc[r].y;
    if (col + 2 < cols) to[2] = acc[r].z;
    if (col + 3 < cols) to[3] = acc[r].w;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Source m{M, j, k}, n{N, k, l};
  dim3 block(kGrid, kGrid), grid((l + kTile - 1) / kTile, (j + kTile - 1) / kTile);
  ring_kernel<<<grid, block>>>(m, n, P);
  CHECK(cudaGetLastError());
}
