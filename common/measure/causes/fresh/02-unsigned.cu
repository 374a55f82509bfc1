#include "check.h"

using uint = unsigned int;
constexpr uint S = 16, SS = S * S;

__global__ __launch_bounds__(SS) void gemm(const float* __restrict__ A, const float* __restrict__ B,
                                           float* __restrict__ C, const uint n) {
  __shared__ float ta[SS], tb[SS];
  const uint t = threadIdx.x;
  const uint ln = t / S;
  const uint cl = t & (S - 1);
  const float* pa = A + (blockIdx.y * S + ln) * n + cl;
  const float* pb = B + ln * n + blockIdx.x * S + cl;
  float r = 0.0f;
  for (uint left = n / S; left != 0; --left) {
    ta[t] = *pa;
    tb[t] = *pb;
    pa += S;
    pb += S * n;
    __syncthreads();
#pragma unroll
    for (uint e = 0; e < S; ++e) r = fmaf(ta[ln * S + e], tb[e * S + cl], r);
    __syncthreads();
  }
  C[(blockIdx.y * S + ln) * n + blockIdx.x * S + cl] = r;
}

void solve(const float* M, const float* N, float* P, int width) {
  const uint g = width / S;
  gemm<<<dim3(g, g), SS>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
