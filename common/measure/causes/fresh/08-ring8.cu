// three stages, two of them in flight (NVIDIA's own names, no copy_async.h)
#include <cuda_pipeline.h>

#include "check.h"

constexpr int kSide = 64;
constexpr int kK = 16;
constexpr int kStages = 3;

struct Stage {
  float4 m[kSide][kK / 4];
  float4 n[kK][kSide / 4];
};

__device__ void fetch(float4* dst, const float* mat, int rows, int cols, int r, int c) {
  float* d = reinterpret_cast<float*>(dst);
  if (cols % 4 == 0) {
    bool ok = r < rows && c < cols;
    const float* src = ok ? mat + size_t(r) * cols + c : mat;
    __pipeline_memcpy_async(d, src, 16, ok ? 0 : 16);
    return;
  }
  for (int q = 0; q < 4; ++q) {
    bool ok = r < rows && c + q < cols;
    const float* src = ok ? mat + size_t(r) * cols + c + q : mat;
    __pipeline_memcpy_async(d + q, src, 4, ok ? 0 : 4);
  }
}

__global__ void ring_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Stage ring[kStages];
  const int tid = threadIdx.x;
  const int x = tid % 16, y = tid / 16;
  const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  const int rounds = (k + kK - 1) / kK;

  auto request = [&](int round) {
    if (round < rounds) {
      Stage& s = ring[round % kStages];
      int mr = tid / 4, mq = tid % 4;
      fetch(&s.m[mr][mq], M, j, k, top + mr, round * kK + 4 * mq);
      int nr = tid / 16, nq = tid % 16;
      fetch(&s.n[nr][nq], N, k, l, round * kK + nr, left + 4 * nq);
    }
    __pipeline_commit();  // also when empty: the count of groups stays simple
  };

  float4 acc[4] = {};
  request(0);
  request(1);
  for (int round = 0; round < rounds; ++round) {
    __pipeline_wait_prior(1);
    __syncthreads();
    request(round + 2);

    const Stage& s = ring[round % kStages];
    for (int q = 0; q < kK / 4; ++q) {
      float4 b[4];
      for (int d = 0; d < 4; ++d) b[d] = s.n[4 * q + d][x];
      for (int r = 0; r < 4; ++r) {
        float4 a4 = s.m[y + 16 * r][q];
        float a[4] = {a4.x, a4.y, a4.z, a4.w};
        for (int d = 0; d < 4; ++d) {
          acc[r].x += a[d] * b[d].x;
          acc[r].y += a[d] * b[d].y;
          acc[r].z += a[d] * b[d].z;
          acc[r].w += a[d] * b[d].w;
        }
      }
    }
  }

  for (int r = 0; r < 4; ++r) {
    int row = top + y + 16 * r, col = left + 4 * x;
    if (row >= j) break;
    float* to = P + size_t(row) * l + col;
    if (l % 4 == 0) {
      if (col < l) *reinterpret_cast<float4*>(to) = acc[r];
      continue;
    }
    float v[4] = {acc[r].x, acc[r].y, acc[r].z, acc[r].w};
    for (int c = 0; c < 4 && col + c < l; ++c) to[c] = v[c];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + kSide - 1) / kSide, (j + kSide - 1) / kSide);
  ring_kernel<<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
