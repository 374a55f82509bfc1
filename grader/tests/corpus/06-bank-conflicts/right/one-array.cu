// Style: both tiles in one dynamic array, padded

#include "check.h"

constexpr int B = 64, BK = 16, T = 4;
constexpr int STRIDE = B + 2;  // words from one row of the tile of M to the next

__global__ void register_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  extern __shared__ float shared[];
  float* Mds = shared;                // [BK][STRIDE]
  float* Nds = shared + BK * STRIDE;  // [BK][B]
  const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
  const int first_row = blockIdx.y * B, first_col = blockIdx.x * B;
  float sum[T * T] = {};
  for (int first = 0; first < k; first += BK) {
    for (int e = threadIdx.x; e < B * BK; e += 256) {
      int row = first_row + (e >> 4), col = first + (e & 15);
      Mds[(e & 15) * STRIDE + (e >> 4)] =
          row < j && col < k ? __ldg(&M[size_t(row) * k + col]) : 0.0f;
    }
    for (int e = threadIdx.x; e < B * BK; e += 256) {
      int row = first + (e >> 6), col = first_col + (e & 63);
      Nds[e] = row < k && col < l ? __ldg(&N[size_t(row) * l + col]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; ++i) {
#pragma unroll
      for (int rc = 0; rc < T * T; ++rc) {
        sum[rc] += Mds[i * STRIDE + ty * T + rc / T] * Nds[i * B + tx + rc % T * 16];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int rc = 0; rc < T * T; ++rc) {
    int row = first_row + ty * T + rc / T, col = first_col + tx + rc % T * 16;
    if (row < j && col < l) P[size_t(row) * l + col] = sum[rc];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  size_t bytes = BK * (STRIDE + B) * sizeof(float);
  register_kernel<<<dim3((l + B - 1) / B, (j + B - 1) / B), 256, bytes>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
