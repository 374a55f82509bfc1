// float4 members by name, vector kernels chosen at compile time
#include "check.h"

using f4 = float4;
constexpr int BS = 64, KD = 16, NT = 256;

template <bool VEC>
__device__ f4 get4(const float* __restrict__ g, int nr, int nc, int r, int c) {
  f4 v = make_float4(0.f, 0.f, 0.f, 0.f);
  if (r < nr) {
    const float* p = g + (size_t)r * nc + c;
    if (VEC) {
      if (c < nc) v = *reinterpret_cast<const f4*>(p);
    } else {
      switch (nc - c) {
        default: if (nc - c < 1) break; v.w = p[3];
        case 3: v.z = p[2];
        case 2: v.y = p[1];
        case 1: v.x = p[0];
      }
    }
  }
  return v;
}

template <bool VEC>
__device__ void put4(float* g, int nr, int nc, int r, int c, f4 v) {
  if (r >= nr) return;
  float* p = g + (size_t)r * nc + c;
  const int n = nc - c;
  if (VEC) {
    if (n > 0) *reinterpret_cast<f4*>(p) = v;
  } else {
    if (n > 0) p[0] = v.x;
    if (n > 1) p[1] = v.y;
    if (n > 2) p[2] = v.z;
    if (n > 3) p[3] = v.w;
  }
}

__device__ void axpy(f4& s, float a, const f4& b) {
  s.x += a * b.x;
  s.y += a * b.y;
  s.z += a * b.z;
  s.w += a * b.w;
}

template <bool VM, bool VN>
__global__ void mul(const float* A, const float* B, float* C, int j, int k, int l) {
  __shared__ f4 a4[BS][KD / 4];
  __shared__ f4 b4[KD][BS / 4];
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  const int top = blockIdx.y * BS, left = blockIdx.x * BS;

  f4 s0 = {0, 0, 0, 0}, s1 = s0, s2 = s0, s3 = s0;
  for (int d = 0; d < k; d += KD) {
    a4[t / 4][t % 4] = get4<VM>(A, j, k, top + t / 4, d + t % 4 * 4);
    b4[y][x] = get4<VN>(B, k, l, d + y, left + x * 4);
    __syncthreads();
#pragma unroll
    for (int g = 0; g < KD / 4; ++g) {
      const f4 r0 = a4[y][g], r1 = a4[y + 16][g], r2 = a4[y + 32][g], r3 = a4[y + 48][g];
      f4 b = b4[4 * g][x];
      axpy(s0, r0.x, b); axpy(s1, r1.x, b); axpy(s2, r2.x, b); axpy(s3, r3.x, b);
      b = b4[4 * g + 1][x];
      axpy(s0, r0.y, b); axpy(s1, r1.y, b); axpy(s2, r2.y, b); axpy(s3, r3.y, b);
      b = b4[4 * g + 2][x];
      axpy(s0, r0.z, b); axpy(s1, r1.z, b); axpy(s2, r2.z, b); axpy(s3, r3.z, b);
      b = b4[4 * g + 3][x];
      axpy(s0, r0.w, b); axpy(s1, r1.w, b); axpy(s2, r2.w, b); axpy(s3, r3.w, b);
    }
    __syncthreads();
  }
  put4<VN>(C, j, l, top + y, left + 4 * x, s0);
  put4<VN>(C, j, l, top + y + 16, left + 4 * x, s1);
  put4<VN>(C, j, l, top + y + 32, left + 4 * x, s2);
  put4<VN>(C, j, l, top + y + 48, left + 4 * x, s3);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 g((l + BS - 1) / BS, (j + BS - 1) / BS);
  const bool vm = k % 4 == 0, vn = l % 4 == 0;
  if (vm && vn) mul<true, true><<<g, NT>>>(M, N, P, j, k, l);
  else if (vm) mul<true, false><<<g, NT>>>(M, N, P, j, k, l);
  else if (vn) mul<false, true><<<g, NT>>>(M, N, P, j, k, l);
  else mul<false, false><<<g, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
