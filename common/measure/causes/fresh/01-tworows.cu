#include "check.h"

struct Where {
  unsigned row, col;
};

__device__ Where locate(unsigned rows) {
  Where w;
  w.row = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
  w.col = blockIdx.x * blockDim.x + threadIdx.x;
  return w;
}

// R rows under one another for each thread
template <unsigned R>
__global__ void strips(float* p, const float* m, const float* n, unsigned w) {
  Where at = locate(R);
  if (at.col >= w) return;
  float s[R] = {};
  const float* down = n + at.col;
  for (unsigned i = 0; i < w; ++i, down += w) {
    float v = *down;
    for (unsigned r = 0; r < R; ++r) {
      if (at.row + r >= w) break;
      s[r] += m[(at.row + r) * w + i] * v;
    }
  }
  for (unsigned r = 0; r < R && at.row + r < w; ++r) p[(at.row + r) * w + at.col] = s[r];
}

void solve(const float* M, const float* N, float* P, int width) {
  float *m, *n, *p;
  const size_t sz = sizeof(float) * width * width;
  CHECK(cudaMalloc(&m, sz));
  CHECK(cudaMalloc(&n, sz));
  CHECK(cudaMalloc(&p, sz));
  CHECK(cudaMemcpy(m, M, sz, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(n, N, sz, cudaMemcpyHostToDevice));
  constexpr unsigned R = 4;
  dim3 threads(32, 4);
  dim3 grid((width + 31) / 32, (width + 4 * R - 1) / (4 * R));
  strips<R><<<grid, threads>>>(p, m, n, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(P, p, sz, cudaMemcpyDeviceToHost));
  cudaFree(m);
  cudaFree(n);
  cudaFree(p);
}
