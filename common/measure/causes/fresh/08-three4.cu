// three stages, two groups on their way
#include <cuda_pipeline.h>
#include "check.h"

#define NSTAGE 3
constexpr int TS = 64, TK = 16;

struct Buffers {
  float m[TS][TK];
  float n[TK][TS];
};

__device__ void send(float* dst, const float* mat, int nr, int nc, int r, int c) {
  const float* src = mat + (size_t)r * nc + c;
  if ((nc & 3) == 0) {
    int ok = (r < nr) & (c < nc);
    __pipeline_memcpy_async(dst, ok ? src : mat, 16, ok ? 0 : 16);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    int ok = (r < nr) & (c + i < nc);
    __pipeline_memcpy_async(dst + i, ok ? src + i : mat, 4, ok ? 0 : 4);
  }
}

__global__ void pipelined(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Buffers ring[NSTAGE];
  const int t = threadIdx.x, x = t & 15, y = t >> 4;
  const int row0 = blockIdx.y * TS, col0 = blockIdx.x * TS;
  const int steps = (k + TK - 1) / TK;

  auto order = [&](int step) {
    if (step < steps) {
      Buffers& b = ring[step % NSTAGE];
      int kk = step * TK;
      send(&b.m[t >> 2][(t & 3) * 4], M, j, k, row0 + (t >> 2), kk + (t & 3) * 4);
      send(&b.n[y][x * 4], N, k, l, kk + y, col0 + x * 4);
    }
    __pipeline_commit();  // also when empty, so that the groups can be counted
  };

  float acc[4][4] = {};
  for (int s = 0; s < NSTAGE - 1; s++) order(s);

  for (int step = 0; step < steps; step++) {
    __pipeline_wait_prior(NSTAGE - 2);
    __syncthreads();
    order(step + NSTAGE - 1);
    const Buffers& b = ring[step % NSTAGE];
#pragma unroll
    for (int i = 0; i < TK; i += 4) {
      float4 mv[4], nv[4];
      for (int r = 0; r < 4; r++) mv[r] = *(const float4*)&b.m[y + 16 * r][i];
      for (int s = 0; s < 4; s++) nv[s] = *(const float4*)&b.n[i + s][x * 4];
      for (int r = 0; r < 4; r++) {
        const float ms[4] = {mv[r].x, mv[r].y, mv[r].z, mv[r].w};
        for (int s = 0; s < 4; s++) {
          acc[r][0] += ms[s] * nv[s].x;
          acc[r][1] += ms[s] * nv[s].y;
          acc[r][2] += ms[s] * nv[s].z;
          acc[r][3] += ms[s] * nv[s].w;
        }
      }
    }
  }

  for (int r = 0; r < 4; r++) {
    int row = row0 + y + 16 * r, col = col0 + x * 4;
    if (row >= j) continue;
    float* to = P + (size_t)row * l + col;
    if (l % 4 == 0) {
      if (col < l) *(float4*)to = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    } else {
      for (int i = 0; i < 4; i++)
        if (col + i < l) to[i] = acc[r][i];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + TS - 1) / TS, (j + TS - 1) / TS);
  pipelined<<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
