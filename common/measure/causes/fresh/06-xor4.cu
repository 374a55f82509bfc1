// Lab 06 without padding: tiles 8 deep, a warp loads 8 columns of 4 rows, and the place of a row
// within its line is turned by exclusive or.
#include "check.h"

constexpr int SIDE = 64;  // of the block's part of P
constexpr int D = 8;      // depth of a tile
constexpr int Q = 4;      // sums of a thread, each way
constexpr int W = SIDE / Q;
constexpr int N_THREADS = W * W;

__device__ __forceinline__ int spot(int i, int r) {
  return i * SIDE + (r ^ (i * 4));
}

__device__ __forceinline__ bool both(int a, int na, int b, int nb) {
  return a < na && b < nb;
}

__global__ void xor_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float ms[D * SIDE];
  __shared__ float ns[D * SIDE];

  const int me = threadIdx.y * W + threadIdx.x;
  const int r0 = blockIdx.y * SIDE;
  const int c0 = blockIdx.x * SIDE;

  float acc[Q * Q] = {0.0f};

  const int rounds = (k + D - 1) / D;
  for (int round = 0; round < rounds; ++round) {
    const int k0 = round * D;
#pragma unroll
    for (int part = 0; part < SIDE * D / N_THREADS; ++part) {
      const int e = part * N_THREADS + me;
      {
        const int i = e & (D - 1);
        const int r = e >> 3;
        float v = 0.0f;
        if (both(r0 + r, j, k0 + i, k)) v = M[size_t(r0 + r) * k + (k0 + i)];
        ms[spot(i, r)] = v;
      }
      {
        const int c = e & (SIDE - 1);
        const int i = e >> 6;
        float v = 0.0f;
        if (both(k0 + i, k, c0 + c, l)) v = N[size_t(k0 + i) * l + (c0 + c)];
        ns[e] = v;
      }
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < D; ++i) {
      float n[Q];
#pragma unroll
      for (int c = 0; c < Q; ++c) n[c] = ns[i * SIDE + threadIdx.x + c * W];
#pragma unroll
      for (int r = 0; r < Q; ++r) {
        const float m = ms[spot(i, threadIdx.y * Q + r)];
#pragma unroll
        for (int c = 0; c < Q; ++c) acc[r * Q + c] += m * n[c];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int e = 0; e < Q * Q; ++e) {
    const int row = r0 + threadIdx.y * Q + e / Q;
    const int col = c0 + threadIdx.x + e % Q * W;
    if (both(row, j, col, l)) P[size_t(row) * l + col] = acc[e];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE);
  xor_kernel<<<grid, dim3(W, W)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
