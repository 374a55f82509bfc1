// Lab 08: two stages behind two pointers that change places (game engine style: front and back).
#include "check.h"
#include "copy_async.h"

constexpr int kBlock = 64, kDeep = 16, kThreads = 256;

struct alignas(16) Stage {
  float a[kBlock][kDeep];
  float b[kDeep][kBlock];
};

struct Job {
  const float* a;
  const float* b;
  float* c;
  int j, k, l;
};

// 4 floats at (r, c) of a h x w matrix
__device__ void copyQuad(float* dst, const float* src, int h, int w, int r, int c) {
  const bool rowOk = r < h;
  const float* at = src + size_t(r) * w + c;
  if (w & 3) {
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const bool ok = rowOk && c + s < w;
      copy_async<4>(dst + s, ok ? at + s : src, ok);
    }
    return;
  }
  const bool ok = rowOk && c < w;
  copy_async<16>(dst, ok ? at : src, ok);
}

__device__ void request(Stage* st, const Job& job, int top, int left, int k0) {
  const int t = threadIdx.x;
  const int ar = t >> 2, ac = (t & 3) * 4;   // 64 rows of 4 quads
  const int br = t >> 4, bc = (t & 15) * 4;  // 16 rows of 16 quads
  copyQuad(&st->a[ar][ac], job.a, job.j, job.k, top + ar, k0 + ac);
  copyQuad(&st->b[br][bc], job.b, job.k, job.l, k0 + br, left + bc);
  __pipeline_commit();
}

__device__ void consume(const Stage* st, float (&acc)[4][4], int x, int y) {
#pragma unroll
  for (int i = 0; i < kDeep; i += 4) {
    float4 am[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) am[r] = *reinterpret_cast<const float4*>(&st->a[y + 16 * r][i]);
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const float4 bv = *reinterpret_cast<const float4*>(&st->b[i + s][4 * x]);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float av = s == 0 ? am[r].x : s == 1 ? am[r].y : s == 2 ? am[r].z : am[r].w;
        acc[r][0] += av * bv.x;
        acc[r][1] += av * bv.y;
        acc[r][2] += av * bv.z;
        acc[r][3] += av * bv.w;
      }
    }
  }
}

__global__ void swapKernel(Job job) {
  __shared__ Stage stages[2];
  Stage* front = &stages[0];  // being used
  Stage* back = &stages[1];   // being filled
  const int x = threadIdx.x & 15, y = threadIdx.x >> 4;
  const int top = blockIdx.y * kBlock, left = blockIdx.x * kBlock;

  float acc[4][4] = {};
  request(back, job, top, left, 0);
  for (int k0 = 0; k0 < job.k; k0 += kDeep) {
    Stage* old = front;
    front = back;
    back = old;
    __pipeline_wait_prior(0);
    __syncthreads();
    const int ahead = k0 + kDeep;
    if (ahead < job.k) request(back, job, top, left, ahead);
    consume(front, acc, x, y);
  }

  const int c = left + 4 * x;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int row = top + y + 16 * r;
    if (row >= job.j) continue;
    float* to = job.c + size_t(row) * job.l + c;
    if (job.l % 4 == 0) {
      if (c < job.l) *reinterpret_cast<float4*>(to) = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    } else {
#pragma unroll
      for (int s = 0; s < 4; ++s)
        if (c + s < job.l) to[s] = acc[r][s];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Job job{M, N, P, j, k, l};
  dim3 grid((l + kBlock - 1) / kBlock, (j + kBlock - 1) / kBlock);
  swapKernel<<<grid, kThreads>>>(job);
  CHECK(cudaGetLastError());
}
