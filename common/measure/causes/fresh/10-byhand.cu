#include "check.h"
#include "tensor.h"

// Fragments put together by hand, from tiles of bf16: N's lies turned, so that pairs lie side by side.
typedef __nv_bfloat16 half_t;
constexpr int TR = 64, TC = 32, TK = 16;

__device__ half_t at(const float* x, int rows, int cols, int r, int c) {
  return __float2bfloat16(r < rows && c < cols ? x[r * cols + c] : 0.0f);
}

__device__ uint32_t pair(const half_t* p) { return *reinterpret_cast<const uint32_t*>(p); }

__global__ void byHand(const float* m, const float* n, float* p, int j, int k, int l) {
  __shared__ __align__(4) half_t tm[TR][TK + 2];
  __shared__ __align__(4) half_t tn[TC][TK + 2];  // [column][step]
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int g = lane / 4, t = lane % 4;
  const int row0 = blockIdx.y * TR, col0 = blockIdx.x * TC;
  float acc[4][4] = {};

  for (int z = 0; z < k; z += TK) {
    for (int e = threadIdx.x; e < TR * TK; e += blockDim.x)
      tm[e / TK][e % TK] = at(m, j, k, row0 + e / TK, z + e % TK);
    for (int e = threadIdx.x; e < TC * TK; e += blockDim.x)
      tn[e % TC][e / TC] = at(n, k, l, z + e / TC, col0 + e % TC);
    __syncthreads();
    uint32_t a[4];
    const int r = warp * 16 + g;
    a[0] = pair(&tm[r][2 * t]);
    a[1] = pair(&tm[r + 8][2 * t]);
    a[2] = pair(&tm[r][2 * t + 8]);
    a[3] = pair(&tm[r + 8][2 * t + 8]);
    for (int i = 0; i < 4; i++) {
      uint32_t b[2];
      b[0] = pair(&tn[8 * i + g][2 * t]);
      b[1] = pair(&tn[8 * i + g][2 * t + 8]);
      multiply_add(acc[i], a, b);
    }
    __syncthreads();
  }

  for (int i = 0; i < 4; i++) {
    for (int e = 0; e < 4; e++) {
      const int r = row0 + warp * 16 + g + (e >> 1) * 8;
      const int c = col0 + 8 * i + 2 * t + (e & 1);
      if (r < j && c < l) p[r * l + c] = acc[i][e];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + TC - 1) / TC, (j + TR - 1) / TR);
  byHand<<<grid, 128>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
