// Two stages in a struct each; "now" is read while "soon" is on its way.
#include <cuda_pipeline.h>
#include "check.h"

struct alignas(16) Stage {
  float m[64][16];
  float n[16][64];
};

struct Source {
  const float* data;
  int rows, cols;

  __device__ void send(float* to, int row, int col) const {
    const float* from = data + size_t(row) * cols + col;
    const int step = cols % 4 == 0 ? 4 : 1;
    if (step == 4) {
      const bool ok = row < rows && col < cols;
      __pipeline_memcpy_async(to, ok ? from : data, 16, ok ? 0 : 16);
      return;
    }
    for (int c = 0; c < 4; c += step) {
      const bool ok = row < rows && col + c < cols;
      __pipeline_memcpy_async(to + c, ok ? from + c : data, 4, ok ? 0 : 4);
    }
  }
};

__device__ void request(Stage* s, const Source& M, const Source& N, int row, int col, int depth) {
  const int t = threadIdx.x;
  const int mr = t / 4, mc = t % 4 * 4;
  const int nr = t / 16, nc = t % 16 * 4;
  M.send(&s->m[mr][mc], row + mr, depth + mc);
  N.send(&s->n[nr][nc], depth + nr, col + nc);
  __pipeline_commit();
}

__device__ void work(const Stage* s, float (&sum)[4][4], int tx, int ty) {
#pragma unroll
  for (int i = 0; i < 16; i += 4) {
    float4 n[4];
    for (int q = 0; q < 4; ++q) n[q] = *reinterpret_cast<const float4*>(&s->n[i + q][4 * tx]);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const float4 m = *reinterpret_cast<const float4*>(&s->m[ty + 16 * r][i]);
      sum[r][0] += m.x * n[0].x + m.y * n[1].x + m.z * n[2].x + m.w * n[3].x;
      sum[r][1] += m.x * n[0].y + m.y * n[1].y + m.z * n[2].y + m.w * n[3].y;
      sum[r][2] += m.x * n[0].z + m.y * n[1].z + m.z * n[2].z + m.w * n[3].z;
      sum[r][3] += m.x * n[0].w + m.y * n[1].w + m.z * n[2].w + m.w * n[3].w;
    }
  }
}

__global__ void pingpong(Source M, Source N, float* P) {
  __shared__ Stage stages[2];
  Stage* now = &stages[0];
  Stage* soon = &stages[1];
  const int row = blockIdx.y * 64, col = blockIdx.x * 64;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int k = M.cols;
  float sum[4][4] = {};

  request(now, M, N, row, col, 0);
  for (int done = 0; done < k; done += 16) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (done + 16 < k) request(soon, M, N, row, col, done + 16);
    work(now, sum, tx, ty);
    Stage* other = now;
    now = soon;
    soon = other;
  }

  const int l = N.cols;
  const int x = col + 4 * tx;
  for (int r = 0; r < 4; ++r) {
    const int y = row + ty + 16 * r;
    if (y >= M.rows) continue;
    float* to = P + size_t(y) * l + x;
    if (l % 4 == 0 && x < l) {
      *reinterpret_cast<float4*>(to) = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
    } else {
      for (int c = 0; c < 4 && x + c < l; ++c) to[c] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const unsigned across = (l + 63) / 64, down = (j + 63) / 64;
  pingpong<<<dim3(across, down), 256>>>(Source{M, j, k}, Source{N, k, l}, P);
  CHECK(cudaGetLastError());
}
