#include <cuda_runtime.h>

#include "copy_async.h"

namespace {

constexpr int kSide = 64;   // of a block's part of the result
constexpr int kDepth = 16;  // of a phase
constexpr int kEach = 4;

struct Shape {
  int j, k, l;
};

__device__ void start4(float* to, const float* a, int rows, int cols, int r, int c) {
  const float* from = a + (long long)r * cols + c;
  if (cols % 4 == 0) {
    const bool in = r < rows && c < cols;
    copy_async<16>(to, in ? from : a, in);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const bool in = r < rows && c + i < cols;
    copy_async<4>(to + i, in ? from + i : a, in);
  }
}

__device__ void exchange(float*& a, float*& b) {
  float* c = a;
  a = b;
  b = c;
}

__device__ void request(float* x, float* y, const float* M, const float* N, Shape s, int k0) {
  const int t = threadIdx.y * 16 + threadIdx.x;
  const int xr = t / 4, xc = t % 4 * 4, yr = t / 16, yc = t % 16 * 4;
  start4(x + xr * kDepth + xc, M, s.j, s.k, blockIdx.y * kSide + xr, k0 + xc);
  start4(y + yr * kSide + yc, N, s.k, s.l, k0 + yr, blockIdx.x * kSide + yc);
  __pipeline_commit();
}

__global__ void exchanged(const float* M, const float* N, float* P, Shape s) {
  __shared__ alignas(16) float memory[2][2 * kSide * kDepth];
  float *now = memory[0], *next = memory[1];
  const int half = kSide * kDepth;
  float sum[kEach][kEach] = {};

  request(now, now + half, M, N, s, 0);
  for (int k0 = 0; k0 < s.k; k0 += kDepth) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + kDepth < s.k) request(next, next + half, M, N, s, k0 + kDepth);
    const float* x = now + threadIdx.y * kDepth;
    const float* y = now + half + threadIdx.x * 4;
    for (int i = 0; i < kDepth; i += 4) {
      float4 m[kEach];
      for (int r = 0; r < kEach; ++r)
        m[r] = *reinterpret_cast<const float4*>(x + r * 16 * kDepth + i);
      for (int q = 0; q < 4; ++q) {
        const float4 n = *reinterpret_cast<const float4*>(y + (i + q) * kSide);
        for (int r = 0; r < kEach; ++r) {
          const float f = q == 0 ? m[r].x : q == 1 ? m[r].y : q == 2 ? m[r].z : m[r].w;
          sum[r][0] += f * n.x;
          sum[r][1] += f * n.y;
          sum[r][2] += f * n.z;
          sum[r][3] += f * n.w;
        }
      }
    }
    exchange(now, next);
  }

  for (int r = 0; r < kEach; ++r) {
    const int row = blockIdx.y * kSide + threadIdx.y + r * 16;
    for (int c = 0; c < 4; ++c) {
      const int col = blockIdx.x * kSide + threadIdx.x * 4 + c;
      if (row < s.j && col < s.l) P[(long long)row * s.l + col] = sum[r][c];
    }
  }
}

int pieces(int length) { return (length + kSide - 1) / kSide; }

}  // namespace

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  exchanged<<<dim3(pieces(l), pieces(j)), dim3(16, 16)>>>(M, N, P, Shape{j, k, l});
}
