// Lab 06 with a swizzle instead of padding: (i, r) goes to word 64 i + (r ^ 4 (i % 8)), and a warp
// fetches 8 columns of 4 rows of M.
#include "check.h"

#define SIDE 64
#define STEP 16
#define NT 256

__device__ inline int sw(int i, int r) { return i * SIDE + (r ^ ((i & 7) << 2)); }

__global__ void mul(const float* a, const float* b, float* c, int h, int d, int w) {
  __shared__ float ta[STEP * SIDE];
  __shared__ float tb[STEP][SIDE];

  const int t = threadIdx.x;
  const int lane = t & 31, wrp = t >> 5;
  const int u = t & 15, v = t >> 4;
  const int top = blockIdx.y * SIDE, lft = blockIdx.x * SIDE;

  float s0[4] = {0}, s1[4] = {0}, s2[4] = {0}, s3[4] = {0};

  for (int p = 0; p < d; p += STEP) {
    // 32 pieces of 8 columns x 4 rows, four for each warp
    for (int piece = wrp; piece < 32; piece += NT / 32) {
      int i = (piece & 1) * 8 + (lane & 7);
      int r = (piece >> 1) * 4 + (lane >> 3);
      bool in = top + r < h && p + i < d;
      ta[sw(i, r)] = in ? a[(size_t)(top + r) * d + p + i] : 0.f;
    }
    for (int q = 0; q < 4; q++) {
      int i = q * 4 + t / SIDE, x = t % SIDE;
      bool in = p + i < d && lft + x < w;
      tb[i][x] = in ? b[(size_t)(p + i) * w + lft + x] : 0.f;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < STEP; i++) {
      const float* m = &ta[sw(i, 4 * v)];  // four rows stay together
      float m0 = m[0], m1 = m[1], m2 = m[2], m3 = m[3];
#pragma unroll
      for (int q = 0; q < 4; q++) {
        float n = tb[i][u + 16 * q];
        s0[q] += m0 * n;
        s1[q] += m1 * n;
        s2[q] += m2 * n;
        s3[q] += m3 * n;
      }
    }
    __syncthreads();
  }

  auto put = [&](int r, const float* s) {
    int y = top + 4 * v + r;
    for (int q = 0; q < 4; q++) {
      int x = lft + u + 16 * q;
      if (y < h && x < w) c[(size_t)y * w + x] = s[q];
    }
  };
  put(0, s0);
  put(1, s1);
  put(2, s2);
  put(3, s3);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int gx = (l - 1) / SIDE + 1, gy = (j - 1) / SIDE + 1;
  mul<<<dim3(gx, gy), NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
