// Lab 03: think of it as np.pad followed by a blocked matmul.
#include "check.h"

constexpr int T = 16;

// like a.get((i, j), 0.0)
__device__ inline float padded(const float* a, int n, int i, int j) {
  if (i >= n) return 0.0f;
  if (j >= n) return 0.0f;
  return a[i * n + j];
}

__global__ void matmul_padded(const float* a, const float* b, float* out, int n, int steps) {
  __shared__ float a_blk[T][T];
  __shared__ float b_blk[T][T];

  const int2 me = make_int2(threadIdx.x, threadIdx.y);
  const int i0 = blockIdx.y * T;
  const int j0 = blockIdx.x * T;

  float acc = 0.0f;
  for (int step = 0; step < steps; step++) {
    const int k0 = step * T;
    a_blk[me.y][me.x] = padded(a, n, i0 + me.y, k0 + me.x);
    b_blk[me.y][me.x] = padded(b, n, k0 + me.y, j0 + me.x);
    __syncthreads();

    for (int k = 0; k < T; k++) acc += a_blk[me.y][k] * b_blk[k][me.x];
    __syncthreads();
  }

  const int i = i0 + me.y;
  const int j = j0 + me.x;
  if (i < n && j < n) {
    out[i * n + j] = acc;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  int steps = 1 + (width - 1) / T;  // ceil for width >= 1
  dim3 shape(T, T);
  matmul_padded<<<dim3(steps, steps), shape>>>(M, N, P, width, steps);
  cudaError_t e = cudaGetLastError();
  CHECK(e);
}
