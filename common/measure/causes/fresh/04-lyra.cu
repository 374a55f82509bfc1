// Lab 04 with a one-dimensional grid: block number -> tile of P.
#include "check.h"

enum { W = 16 };

struct Shape {
  int rows, cols;
  __host__ __device__ int tiles_down() const { return (rows + W - 1) / W; }
  __host__ __device__ int tiles_across() const { return (cols + W - 1) / W; }
};

struct View {
  const float* p;
  Shape s;
  __device__ float at(int r, int c) const {
    bool inside = r < s.rows && c < s.cols;
    return inside ? p[(size_t)r * s.cols + c] : 0.f;
  }
};

__global__ void gemm(View A, View B, float* out, Shape o) {
  __shared__ float sa[W][W];
  __shared__ float sb[W][W];

  const int across = o.tiles_across();
  const int by = blockIdx.x / across;
  const int bx = blockIdx.x % across;
  const int ty = threadIdx.y, tx = threadIdx.x;
  const int r = by * W + ty;
  const int c = bx * W + tx;

  float acc = 0.f;
  const int steps = A.s.tiles_across();
  int step = 0;
  do {
    sa[ty][tx] = A.at(r, step * W + tx);
    sb[ty][tx] = B.at(step * W + ty, c);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < W; ++q) acc = __fmaf_rn(sa[ty][q], sb[q][tx], acc);
    __syncthreads();
  } while (++step < steps);

  if (r < o.rows && c < o.cols) out[(size_t)r * o.cols + c] = acc;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  View a{M, {j, k}};
  View b{N, {k, l}};
  Shape o{j, l};
  const int blocks = o.tiles_down() * o.tiles_across();
  gemm<<<blocks, dim3(W, W)>>>(a, b, P, o);
  CHECK(cudaGetLastError());
}
