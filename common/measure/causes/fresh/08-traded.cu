#include "check.h"
#include "copy_async.h"

// now[] is in use, next[] is on its way; the two swap after each step
constexpr int B = 64;
constexpr int S = 16;

struct Dims {
  int j, k, l;
};

__device__ void get4(float* to, const float* X, int h, int w, int r, int c) {
  const float* at = X + size_t(r) * w + c;
  if (w % 4 == 0) {
    const bool in = r < h && c < w;
    copy_async<16>(to, in ? at : X, in);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const bool in = r < h && c + i < w;
    copy_async<4>(to + i, in ? at + i : X, in);
  }
}

__device__ void bring(float* m, float* n, const float* M, const float* N, Dims d, int step) {
  const int id = threadIdx.x;
  const int top = blockIdx.y * B, left = blockIdx.x * B, z = step * S;
  get4(m + 4 * id, M, d.j, d.k, top + id / 4, z + id % 4 * 4);
  get4(n + 4 * id, N, d.k, d.l, z + id / 16, left + id % 16 * 4);
  __pipeline_commit();
}

__global__ void pipelined(const float* M, const float* N, float* P, Dims d) {
  __shared__ alignas(16) float ms[2 * B * S];
  __shared__ alignas(16) float ns[2 * S * B];
  float *now_m = ms, *next_m = ms + B * S;
  float *now_n = ns, *next_n = ns + S * B;

  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int steps = (d.k + S - 1) / S;
  alignas(16) float sum[4][4] = {};

  bring(now_m, now_n, M, N, d, 0);
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (step + 1 < steps) bring(next_m, next_n, M, N, d, step + 1);

    for (int i = 0; i < S; i += 4) {
      float4 a[4];
      for (int r = 0; r < 4; ++r) {
        a[r] = *reinterpret_cast<const float4*>(now_m + (ty + 16 * r) * S + i);
      }
      for (int q = 0; q < 4; ++q) {
        const float4 b = *reinterpret_cast<const float4*>(now_n + (i + q) * B + 4 * tx);
        for (int r = 0; r < 4; ++r) {
          const float f = q == 0 ? a[r].x : q == 1 ? a[r].y : q == 2 ? a[r].z : a[r].w;
          sum[r][0] += f * b.x;
          sum[r][1] += f * b.y;
          sum[r][2] += f * b.z;
          sum[r][3] += f * b.w;
        }
      }
    }

    float* other = now_m;
    now_m = next_m;
    next_m = other;
    other = now_n;
    now_n = next_n;
    next_n = other;
  }

  for (int r = 0; r < 4; ++r) {
    const int row = blockIdx.y * B + ty + 16 * r;
    const int col = blockIdx.x * B + 4 * tx;
    if (row >= d.j) continue;
    float* to = P + size_t(row) * d.l + col;
    if (d.l % 4 == 0) {
      if (col < d.l) *reinterpret_cast<float4*>(to) = *reinterpret_cast<float4*>(sum[r]);
    } else {
      for (int c = 0; c < 4; ++c)
        if (col + c < d.l) to[c] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Dims d{j, k, l};
  pipelined<<<dim3((l + B - 1) / B, (j + B - 1) / B), 256>>>(M, N, P, d);
  CHECK(cudaGetLastError());
}
