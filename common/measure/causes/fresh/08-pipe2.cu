// Pipeline object, stage flips with ^ 1; CUDA's own __pipeline_memcpy_async
#include <cuda_pipeline.h>
#include "check.h"

constexpr int H = 64, W = 64, D = 16, THREADS = 256;

struct Buffers {
  float a[H][D];
  float b[D][W];
};

// dst: 16 bytes of shared memory
__device__ void fetch(float* dst, const float* src, int nr, int nc, int r, int c) {
  const bool rowOk = r < nr;
  if (nc % 4 == 0) {
    const bool ok = rowOk && c < nc;
    __pipeline_memcpy_async(dst, ok ? src + size_t(r) * nc + c : src, 16, ok ? 0 : 16);
    return;
  }
#pragma unroll
  for (int q = 0; q < 4; ++q, ++c) {
    const bool ok = rowOk && c < nc;
    __pipeline_memcpy_async(dst + q, ok ? src + size_t(r) * nc + c : src, 4, ok ? 0 : 4);
  }
}

__device__ float4 as4(const float* p) { return *(const float4*)p; }

__global__ void pipelined(const float* A, const float* B, float* C, int j, int k, int l) {
  __shared__ __align__(16) Buffers buf[2];
  const int tid = threadIdx.x;
  const int tx = tid & 15, ty = tid >> 4;
  const int r0 = blockIdx.y * H, c0 = blockIdx.x * W;

  auto request = [&](Buffers& to, int d) {
    const int ar = tid / (D / 4), ac = tid % (D / 4) * 4;
    fetch(&to.a[ar][ac], A, j, k, r0 + ar, d + ac);
    const int br = tid / (W / 4), bc = tid % (W / 4) * 4;
    fetch(&to.b[br][bc], B, k, l, d + br, c0 + bc);
    __pipeline_commit();
  };

  float acc[4][4] = {};
  int cur = 0;
  request(buf[cur], 0);
  for (int d = 0; d < k; d += D) {
    __pipeline_wait_prior(0);
    __syncthreads();
    const int next = d + D;
    if (next < k) request(buf[cur ^ 1], next);

    const Buffers& now = buf[cur];
#pragma unroll
    for (int i = 0; i < D; i += 4) {
      float4 m[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) m[r] = as4(&now.a[ty + 16 * r][i]);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float4 n = as4(&now.b[i + s][tx * 4]);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const float f = s == 0 ? m[r].x : s == 1 ? m[r].y : s == 2 ? m[r].z : m[r].w;
          acc[r][0] += f * n.x;
          acc[r][1] += f * n.y;
          acc[r][2] += f * n.z;
          acc[r][3] += f * n.w;
        }
      }
    }
    cur ^= 1;
  }

#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int row = r0 + ty + 16 * r, col = c0 + 4 * tx;
    if (row >= j || col >= l) continue;
    float* out = C + size_t(row) * l + col;
    if (l % 4 == 0) {
      *(float4*)out = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    } else {
#pragma unroll
      for (int c = 0; c < 4; ++c)
        if (col + c < l) out[c] = acc[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + W - 1) / W, (j + H - 1) / H);
  pipelined<<<grid, THREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
