// No transposition, no conflict: the tile of M stays as it is, a thread's rows are 16 apart.
#include "check.h"

static constexpr int SIDE = 64, STEP = 16, Q = 4, LANES = SIDE / Q;

#define FOR(v, n) for (int v = 0; v < (n); ++v)

__device__ inline float peek(const float* a, int h, int w, int r, int c) {
  if (r < h)
    if (c < w) return a[static_cast<size_t>(r) * w + c];
  return 0.f;
}

__global__ void k6(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float a[SIDE * STEP];  // r * STEP + i
  __shared__ float b[STEP * SIDE];  // i * SIDE + c

  const int tid = threadIdx.x;
  const int tx = tid % LANES, ty = tid / LANES;
  const int R = SIDE * blockIdx.y, C = SIDE * blockIdx.x;

  float s00[Q] = {}, s16[Q] = {}, s32[Q] = {}, s48[Q] = {};  // rows ty, ty + 16, ...

  for (int z = 0; z < k; z += STEP) {
    FOR(n, Q) {
      const int e = tid + n * LANES * LANES;
      a[e] = peek(M, j, k, R + e / STEP, z + e % STEP);
      b[e] = peek(N, k, l, z + e / SIDE, C + e % SIDE);
    }
    __syncthreads();

    FOR(i, STEP) {
      const float* pa = a + ty * STEP + i;
      const float* pb = b + i * SIDE + tx;
      const float a0 = pa[0], a1 = pa[16 * STEP], a2 = pa[32 * STEP], a3 = pa[48 * STEP];
      FOR(c, Q) {
        const float w = pb[c * LANES];
        s00[c] += a0 * w;
        s16[c] += a1 * w;
        s32[c] += a2 * w;
        s48[c] += a3 * w;
      }
    }
    __syncthreads();
  }

  auto put = [&](int r, const float* s) {
    r += R + ty;
    FOR(c, Q) {
      const int col = C + tx + c * LANES;
      if (r < j && col < l) P[static_cast<size_t>(r) * l + col] = s[c];
    }
  };
  put(0, s00);
  put(16, s16);
  put(32, s32);
  put(48, s48);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int down = (j + SIDE - 1) / SIDE;
  const int across = (l + SIDE - 1) / SIDE;
  k6<<<dim3(across, down), LANES * LANES>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
