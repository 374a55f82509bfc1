// dynamic shared memory, its size worked out by the host
#include <cuda_pipeline.h>

#include "check.h"

struct Geometry {
  int rows = 32, cols = 32, deep = 16, stages = 2;
  size_t stage() const { return size_t(rows * deep + deep * cols); }
  size_t bytes() const { return stages * stage() * sizeof(float); }
  dim3 grid(int l, int j) const { return dim3((l + cols - 1) / cols, (j + rows - 1) / rows); }
  dim3 block() const { return dim3(cols, rows / 4); }
};

__global__ void staged(const float* m, const float* n, float* p, int j, int k, int l, Geometry g) {
  extern __shared__ float memory[];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int me = ty * g.cols + tx, all = g.cols * g.rows / 4;
  const int top = blockIdx.y * g.rows, left = blockIdx.x * g.cols;
  const int phases = (k + g.deep - 1) / g.deep;
  auto fetch = [&](int phase) {
    float* a = memory + (phase % g.stages) * (g.rows * g.deep + g.deep * g.cols);
    float* b = a + g.rows * g.deep;
    const int o = phase * g.deep;
    for (int e = me; e < g.rows * g.deep; e += all) {
      const int y = top + e / g.deep, x = o + e % g.deep;
      if (y < j && x < k)
        __pipeline_memcpy_async(a + e, m + (size_t)y * k + x, 4);
      else
        a[e] = 0.0f;
    }
    for (int e = me; e < g.deep * g.cols; e += all) {
      const int y = o + e / g.cols, x = left + e % g.cols;
      if (y < k && x < l)
        __pipeline_memcpy_async(b + e, n + (size_t)y * l + x, 4);
      else
        b[e] = 0.0f;
    }
    __pipeline_commit();
  };
  float sum[4] = {};
  fetch(0);
  for (int phase = 0; phase < phases; phase++) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (phase + 1 < phases) fetch(phase + 1);
    const float* a = memory + (phase % g.stages) * (g.rows * g.deep + g.deep * g.cols);
    const float* b = a + g.rows * g.deep;
    for (int i = 0; i < g.deep; i++)
      for (int r = 0; r < 4; r++) sum[r] += a[(ty + r * g.rows / 4) * g.deep + i] * b[i * g.cols + tx];
  }
  for (int r = 0; r < 4; r++) {
    const int y = top + ty + r * g.rows / 4, x = left + tx;
    if (y < j && x < l) p[(size_t)y * l + x] = sum[r];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Geometry g;
  staged<<<g.grid(l, j), g.block(), g.bytes()>>>(M, N, P, j, k, l, g);
  CHECK(cudaGetLastError());
}
