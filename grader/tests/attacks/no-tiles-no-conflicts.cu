#include "check.h"
// 8 x 16 results a thread, lanes 4 x 8, no shared memory at all.
__global__ void multiply(const float* M, const float* N, float* P, int j, int k, int l) {
  int ly = threadIdx.x / 8, lx = threadIdx.x % 8, R = blockIdx.y * 32 + ly * 8, C = blockIdx.x * 128 + lx * 4;
  float sum[8][16] = {};
  for (int p = 0; p < k; p += 4) {
    float m[8][4];
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      const float* at = M + size_t(R + r) * k + p;
      if (k % 4 == 0 && R + r < j) *(float4*)m[r] = *(const float4*)at;
      else
#pragma unroll
        for (int s = 0; s < 4; ++s) m[r][s] = R + r < j && p + s < k ? at[s] : 0.0f;
    }
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      float n[16];
#pragma unroll
      for (int c = 0; c < 16; ++c) n[c] = 0;
      if (p + s < k) {
        const float* at = N + size_t(p + s) * l + C;
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (l % 4 == 0) { if (C + 32 * q < l) *(float4*)(n + 4 * q) = *(const float4*)(at + 32 * q); }
          else
#pragma unroll
            for (int e = 0; e < 4; ++e) if (C + 32 * q + e < l) n[4 * q + e] = at[32 * q + e];
      }
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int c = 0; c < 16; ++c) sum[r][c] += m[r][s] * n[c];
    }
  }
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int c = 0; c < 16; ++c) {
      int row = R + r, col = C + c / 4 * 32 + c % 4;
      if (row < j && col < l) P[size_t(row) * l + col] = sum[r][c];
    }
}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  multiply<<<dim3((l + 127) / 128, (j + 31) / 32), 32>>>(M, N, P, j, k, l);
}
