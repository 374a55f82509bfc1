#include "check.h"

constexpr int SIDE = 64, DEPTH = 16;

// Four numbers of a row; one by one where they do not lie together.
__device__ float4 quad(const float* a, int rows, int cols, int y, int x) {
  if (y >= rows) return make_float4(0, 0, 0, 0);
  const float* p = a + size_t(y) * cols;
  if (cols % 4 == 0 && x + 3 < cols) return *reinterpret_cast<const float4*>(p + x);
  float4 q;
  q.x = x + 0 < cols ? p[x + 0] : 0.f;
  q.y = x + 1 < cols ? p[x + 1] : 0.f;
  q.z = x + 2 < cols ? p[x + 2] : 0.f;
  q.w = x + 3 < cols ? p[x + 3] : 0.f;
  return q;
}

__global__ void quads(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float4 a[SIDE][DEPTH / 4];
  __shared__ float4 b[DEPTH][SIDE / 4];
  const int t = threadIdx.x;  // 256
  const int tx = t & 15, ty = t >> 4;
  const int ar = t / (DEPTH / 4), ac = t % (DEPTH / 4);
  const int br = t / (SIDE / 4), bc = t % (SIDE / 4);
  const int y0 = blockIdx.y * SIDE, x0 = blockIdx.x * SIDE;
  float4 sum[4] = {};
  for (int k0 = 0; k0 < k; k0 += DEPTH) {
    a[ar][ac] = quad(M, j, k, y0 + ar, k0 + ac * 4);
    b[br][bc] = quad(N, k, l, k0 + br, x0 + bc * 4);
    __syncthreads();
    for (int q = 0; q < DEPTH / 4; q++) {
      const float4 n0 = b[q * 4 + 0][tx], n1 = b[q * 4 + 1][tx];
      const float4 n2 = b[q * 4 + 2][tx], n3 = b[q * 4 + 3][tx];
      for (int r = 0; r < 4; r++) {
        const float4 m = a[ty * 4 + r][q];
        sum[r].x += m.x * n0.x + m.y * n1.x + m.z * n2.x + m.w * n3.x;
        sum[r].y += m.x * n0.y + m.y * n1.y + m.z * n2.y + m.w * n3.y;
        sum[r].z += m.x * n0.z + m.y * n1.z + m.z * n2.z + m.w * n3.z;
        sum[r].w += m.x * n0.w + m.y * n1.w + m.z * n2.w + m.w * n3.w;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; r++) {
    const int y = y0 + ty * 4 + r, x = x0 + tx * 4;
    if (y >= j) continue;
    float* out = P + size_t(y) * l + x;
    if (l % 4 == 0 && x < l) {
      *reinterpret_cast<float4*>(out) = sum[r];
    } else {
      if (x + 0 < l) out[0] = sum[r].x;
      if (x + 1 < l) out[1] = sum[r].y;
      if (x + 2 < l) out[2] = sum[r].z;
      if (x + 3 < l) out[3] = sum[r].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  quads<<<dim3((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
