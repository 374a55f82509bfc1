// a phase is a span of k; the last one is shorter, and only its part of the tiles is filled and used
#include "check.h"

struct Span {
  int from, length;
};

template <int W>
__device__ Span span(int phase, int width) {
  const int from = phase * W;
  return {from, min(W, width - from)};
}

template <int W>
__global__ void spans(const float* left, const float* right, float* out, int width) {
  __shared__ float l[W][W], r[W][W];
  const int lx = threadIdx.x, ly = threadIdx.y;
  const int gx = blockIdx.x * W + lx, gy = blockIdx.y * W + ly;
  const int phases = (width - 1) / W + 1;
  float result = 0.0f;
  for (int phase = 0; phase < phases; ++phase) {
    const Span s = span<W>(phase, width);
    if (gy < width && lx < s.length) l[ly][lx] = left[gy * width + s.from + lx];
    if (gx < width && ly < s.length) r[ly][lx] = right[(s.from + ly) * width + gx];
    __syncthreads();
    if (gx < width && gy < width) {
      for (int i = 0; i < s.length; ++i) result += l[ly][i] * r[i][lx];
    }
    __syncthreads();
  }
  if (gx < width && gy < width) out[gy * width + gx] = result;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int W = 16;
  const dim3 block(W, W);
  const dim3 grid((width + W - 1) / W, (width + W - 1) / W);
  spans<W><<<grid, block>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
