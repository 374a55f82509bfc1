#include <cuda_runtime.h>

typedef unsigned int uint;
constexpr uint kM = 32, kN = 64, kK = 16, kTm = 2, kTn = 4;
constexpr uint kLanesX = kN / kTn, kLanesY = kM / kTm, kCount = kLanesX * kLanesY;

__device__ float pick(const float* __restrict__ a, uint r, uint c, uint rows, uint cols) {
  return r < rows ? (c < cols ? __ldg(a + r * cols + c) : 0.f) : 0.f;
}

__device__ void fill(float (*to)[kK], const float* a, uint top, uint left, uint rows, uint cols, uint id) {
  uint e = id;
  do {
    to[e / kK][e % kK] = pick(a, top + e / kK, left + e % kK, rows, cols);
    e += kCount;
  } while (e < kM * kK);
}

__device__ void fill(float (*to)[kN], const float* b, uint top, uint left, uint rows, uint cols, uint id) {
  for (uint e = id; e < kK * kN; e += kCount) {
    to[e / kN][e % kN] = pick(b, top + e / kN, left + e % kN, rows, cols);
  }
}

__global__ void outer(const float* A, const float* B, float* C, uint j, uint k, uint l) {
  __shared__ float x[kM][kK];
  __shared__ float y[kK][kN];
  const uint id = threadIdx.x;
  const uint u = id / kLanesX, v = id % kLanesX;
  const uint top = kM * blockIdx.y, left = kN * blockIdx.x;
  float c00 = 0, c01 = 0, c02 = 0, c03 = 0;
  float c10 = 0, c11 = 0, c12 = 0, c13 = 0;
  uint z = 0;
  for (; z < k; z += kK) {
    fill(x, A, top, z, j, k, id);
    fill(y, B, z, left, k, l, id);
    __syncthreads();
    for (uint i = 0; i < kK; ++i) {
      const float a0 = x[u * kTm][i], a1 = x[u * kTm + 1][i];
      const float* b = &y[i][v];
      const float b0 = b[0], b1 = b[kLanesX], b2 = b[2 * kLanesX], b3 = b[3 * kLanesX];
      c00 += a0 * b0, c01 += a0 * b1, c02 += a0 * b2, c03 += a0 * b3;
      c10 += a1 * b0, c11 += a1 * b1, c12 += a1 * b2, c13 += a1 * b3;
    }
    __syncthreads();
  }
  const float out[kTm][kTn] = {{c00, c01, c02, c03}, {c10, c11, c12, c13}};
  for (uint r = 0; r < kTm; ++r) {
    const uint row = top + u * kTm + r;
    if (row >= j) break;
    for (uint c = 0; c < kTn; ++c) {
      const uint col = left + v + c * kLanesX;
      if (col < l) C[row * l + col] = out[r][c];
    }
  }
}

void solve(const float* A, const float* B, float* C, int j, int k, int l) {
  outer<<<dim3((l + kN - 1) / kN, (j + kM - 1) / kM), kCount>>>(A, B, C, j, k, l);
}
