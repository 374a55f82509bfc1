#include "check.h"

// A thread has 4 x 4 elements: four rows that lie sixteen apart, four neighbouring columns.
typedef float4 f4;

__device__ __forceinline__ f4 take(const float* a, int rows, int cols, int r, int c) {
  f4 v = make_float4(0.f, 0.f, 0.f, 0.f);
  if (r >= rows || c >= cols) return v;
  const float* at = a + (size_t)r * cols + c;
  if (cols % 4 == 0) return *reinterpret_cast<const f4*>(at);
  v.x = at[0];
  if (c + 1 < cols) v.y = at[1];
  if (c + 2 < cols) v.z = at[2];
  if (c + 3 < cols) v.w = at[3];
  return v;
}

__device__ __forceinline__ void give(float* a, int rows, int cols, int r, int c, f4 v) {
  if (r >= rows || c >= cols) return;
  float* at = a + (size_t)r * cols + c;
  if (cols % 4 == 0) {
    *reinterpret_cast<f4*>(at) = v;
    return;
  }
  at[0] = v.x;
  if (c + 1 < cols) at[1] = v.y;
  if (c + 2 < cols) at[2] = v.z;
  if (c + 3 < cols) at[3] = v.w;
}

__device__ __forceinline__ void axpy(f4& y, float a, const f4& x) {
  y.x += a * x.x;
  y.y += a * x.y;
  y.z += a * x.z;
  y.w += a * x.w;
}

__global__ __launch_bounds__(256) void four_by_four(const float* m, const float* n, float* p, int j, int k, int l) {
  __shared__ f4 sm[64][4];  // 16 steps of 64 rows
  __shared__ f4 sn[16][16];
  const int id = threadIdx.x, ty = id / 16, tx = id % 16;
  const int top = blockIdx.y * 64, left = blockIdx.x * 64;
  f4 acc[4] = {};
  for (int z = 0; z < k; z += 16) {
    sm[id / 4][id % 4] = take(m, j, k, top + id / 4, z + id % 4 * 4);
    sn[ty][tx] = take(n, k, l, z + ty, left + tx * 4);
    __syncthreads();
    for (int q = 0; q < 4; ++q) {
      const f4 b0 = sn[4 * q][tx], b1 = sn[4 * q + 1][tx], b2 = sn[4 * q + 2][tx], b3 = sn[4 * q + 3][tx];
      for (int r = 0; r < 4; ++r) {
        const f4 a = sm[ty + 16 * r][q];
        axpy(acc[r], a.x, b0);
        axpy(acc[r], a.y, b1);
        axpy(acc[r], a.z, b2);
        axpy(acc[r], a.w, b3);
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) give(p, j, l, top + ty + 16 * r, left + tx * 4, acc[r]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  four_by_four<<<dim3((l + 63) / 64, (j + 63) / 64), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
