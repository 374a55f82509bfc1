#include "check.h"
#include "copy_async.h"

// While one runner is used the other is on its way.
#define TILE 64
#define DEPTH 16
#define LANE (threadIdx.y * 16 + threadIdx.x)

struct Runner {
  float m[TILE * DEPTH];
  float n[DEPTH * TILE];
};

struct Track {
  const float* data;
  int rows, cols;

  __device__ void carry(float* to, int r, int c) const {
    if (cols % 4 == 0) {
      const bool ok = r < rows && c < cols;
      copy_async<16>(to, ok ? data + (size_t)r * cols + c : data, ok);
      return;
    }
    for (int i = 0; i < 4; i++) {
      const bool ok = r < rows && c + i < cols;
      copy_async<4>(to + i, ok ? data + (size_t)r * cols + c + i : data, ok);
    }
  }
};

__device__ void start(Runner* runner, const Track& M, const Track& N, int step) {
  int r = LANE / 4, c = LANE % 4 * 4;
  M.carry(runner->m + r * DEPTH + c, blockIdx.y * TILE + r, step * DEPTH + c);
  r = LANE / 16, c = LANE % 16 * 4;
  N.carry(runner->n + r * TILE + c, step * DEPTH + r, blockIdx.x * TILE + c);
  __pipeline_commit();
}

__global__ void relay(Track M, Track N, float* P) {
  __shared__ alignas(16) Runner team[2];
  float4 sum[4] = {};
  const int steps = (M.cols + DEPTH - 1) / DEPTH;
  Runner *now = &team[0], *next = &team[1];
  start(now, M, N, 0);
  for (int step = 0; step < steps; step++) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (step + 1 < steps) start(next, M, N, step + 1);
    for (int d = 0; d < DEPTH; d += 4) {
      float4 b[4];
      for (int s = 0; s < 4; s++)
        b[s] = *reinterpret_cast<const float4*>(now->n + (d + s) * TILE + threadIdx.x * 4);
      for (int i = 0; i < 4; i++) {
        const int row = threadIdx.y + i * 16;
        const float4 a = *reinterpret_cast<const float4*>(now->m + row * DEPTH + d);
        const float f[4] = {a.x, a.y, a.z, a.w};
        for (int s = 0; s < 4; s++) {
          sum[i].x += f[s] * b[s].x;
          sum[i].y += f[s] * b[s].y;
          sum[i].z += f[s] * b[s].z;
          sum[i].w += f[s] * b[s].w;
        }
      }
    }
    Runner* done = now;
    now = next;
    next = done;
  }
  for (int i = 0; i < 4; i++) {
    const int row = blockIdx.y * TILE + threadIdx.y + i * 16, col = blockIdx.x * TILE + threadIdx.x * 4;
    const float out[4] = {sum[i].x, sum[i].y, sum[i].z, sum[i].w};
    if (row < M.rows)
      for (int c = 0; c < 4; c++)
        if (col + c < N.cols) P[(size_t)row * N.cols + col + c] = out[c];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Track m{M, j, k}, n{N, k, l};
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  relay<<<grid, dim3(16, 16)>>>(m, n, P);
  CHECK(cudaGetLastError());
}
