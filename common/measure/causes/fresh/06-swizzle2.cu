// No padding: rows of the M tile stay 64 words, the row number is scrambled by xor instead.
#include "check.h"

namespace {

constexpr int kSide = 64, kDepth = 16, kPatch = 4, kLanes = kSide / kPatch;

struct Shared {
  alignas(16) float left[kDepth][kSide];   // element (i, r) stands at [i][r ^ 4 i]
  alignas(16) float right[kDepth][kSide];
};

__device__ int scramble(int i, int r) { return r ^ (i * 4 & (kSide - 1)); }

// Warp w loads rows 4 w' .. 4 w' + 3 and 8 columns: 4 x 8 lanes.
__device__ void load_left(Shared& s, const float* M, int top, int from, int j, int k, int id) {
  const int warp = id / 32, lane = id % 32;
  for (int part = warp; part < (kSide / 4) * (kDepth / 8); part += 8) {
    const int r = part / 2 * 4 + lane / 8;
    const int i = part % 2 * 8 + lane % 8;
    float value = 0;
    if (top + r < j && from + i < k) value = M[size_t(top + r) * k + from + i];
    s.left[i][scramble(i, r)] = value;
  }
}

__device__ void load_right(Shared& s, const float* N, int from, int side, int k, int l, int id) {
  const int c = id % kSide;
  for (int i = id / kSide; i < kDepth; i += 4) {
    float value = 0;
    if (from + i < k && side + c < l) value = N[size_t(from + i) * l + side + c];
    s.right[i][c] = value;
  }
}

__global__ void scrambled(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Shared s;
  const int x = threadIdx.x, y = threadIdx.y, id = y * kLanes + x;
  const int top = blockIdx.y * kSide, side = blockIdx.x * kSide;

  float patch[kPatch][kPatch] = {};
  for (int from = 0; from < k; from += kDepth) {
    load_left(s, M, top, from, j, k, id);
    load_right(s, N, from, side, k, l, id);
    __syncthreads();
    for (int i = 0; i < kDepth; ++i) {
      const float4 a = *reinterpret_cast<const float4*>(&s.left[i][scramble(i, y * kPatch)]);
      for (int c = 0; c < kPatch; ++c) {
        const float b = s.right[i][x + c * kLanes];
        patch[0][c] += a.x * b;
        patch[1][c] += a.y * b;
        patch[2][c] += a.z * b;
        patch[3][c] += a.w * b;
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < kPatch; ++r) {
    const int row = top + y * kPatch + r;
    for (int c = 0; c < kPatch; ++c) {
      const int col = side + x + c * kLanes;
      if (row < j && col < l) P[size_t(row) * l + col] = patch[r][c];
    }
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + kSide - 1) / kSide, (j + kSide - 1) / kSide);
  scrambled<<<grid, dim3(kLanes, kLanes)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
