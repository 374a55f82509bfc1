#include "check.h"

// 4 warps in a 2 x 2 grid, each 32 x 64 of P; 4 x 8 lanes, each 8 x 8.
constexpr int kBlockM = 64, kBlockN = 128, kDepth = 8;
constexpr int kWarpM = 32, kWarpN = 64;
constexpr int kLanesDown = 4, kLanesAcross = 8;
constexpr int kPerM = kWarpM / kLanesDown, kPerN = kWarpN / kLanesAcross;

struct Lane {
  int row, col;  // of its first element, in the block
};

__device__ Lane place(int tid) {
  const int warp = tid / 32, lane = tid % 32;
  Lane at;
  at.row = warp / 2 * kWarpM + lane / kLanesAcross * kPerM;
  at.col = warp % 2 * kWarpN + lane % kLanesAcross * kPerN;
  return at;
}

__device__ float pick(const float* x, int h, int w, int r, int c) {
  if (r >= h || c >= w) return 0.0f;
  return x[static_cast<size_t>(r) * w + c];
}

__global__ void gridOfWarps(const float* m, const float* n, float* p, int j, int k, int l) {
  __shared__ float tm[kDepth][kBlockM];
  __shared__ float tn[kDepth][kBlockN];
  const int tid = threadIdx.x;
  const Lane at = place(tid);
  const int top = blockIdx.y * kBlockM, left = blockIdx.x * kBlockN;
  float sum[kPerM][kPerN];
  for (auto& row : sum)
    for (auto& one : row) one = 0.0f;

  for (int from = 0; from < k; from += kDepth) {
    for (int e = tid; e < kBlockM * kDepth; e += 128)
      tm[e % kDepth][e / kDepth] = pick(m, j, k, top + e / kDepth, from + e % kDepth);
    for (int e = tid; e < kBlockN * kDepth; e += 128)
      tn[e / kBlockN][e % kBlockN] = pick(n, k, l, from + e / kBlockN, left + e % kBlockN);
    __syncthreads();
    for (int d = 0; d < kDepth; ++d)
      for (int y = 0; y < kPerM; ++y)
        for (int x = 0; x < kPerN; ++x) sum[y][x] += tm[d][at.row + y] * tn[d][at.col + x];
    __syncthreads();
  }
  for (int y = 0; y < kPerM; ++y)
    for (int x = 0; x < kPerN; ++x) {
      const int row = top + at.row + y, col = left + at.col + x;
      if (row < j && col < l) p[static_cast<size_t>(row) * l + col] = sum[y][x];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + kBlockN - 1) / kBlockN, (j + kBlockM - 1) / kBlockM);
  gridOfWarps<<<grid, 128>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
