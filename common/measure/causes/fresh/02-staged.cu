#include "check.h"

const int T = 16;

struct Place {
  int row, col;
};

__device__ Place place_of(int tid) {
  Place p;
  p.row = tid / T;
  p.col = tid % T;
  return p;
}

__global__ void staged(const float* __restrict__ a, const float* __restrict__ b,
                       float* __restrict__ c, int n) {
  __shared__ float sa[T][T + 1], sb[T][T + 1];
  const Place me = place_of(threadIdx.x);
  const int top = blockIdx.y * T, left = blockIdx.x * T;
  float nextA = a[(top + me.row) * n + me.col];
  float nextB = b[me.row * n + left + me.col];
  float total = 0.f;
  const int last = n / T - 1;
  for (int p = 0; p <= last; p++) {
    sa[me.row][me.col] = nextA;
    sb[me.row][me.col] = nextB;
    __syncthreads();
    if (p < last) {
      nextA = a[(top + me.row) * n + (p + 1) * T + me.col];
      nextB = b[((p + 1) * T + me.row) * n + left + me.col];
    }
#pragma unroll
    for (int i = 0; i < T; i++) total += sa[me.row][i] * sb[i][me.col];
    __syncthreads();
  }
  c[(top + me.row) * n + left + me.col] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  staged<<<dim3(width / T, width / T), T * T>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
