#include "check.h"

template <int BM_, int BN_, int BK_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, PITCH = BM_ + 4;
  static constexpr int TM = 4, TN = 4, NX = BN_ / TN, NY = BM_ / TM;
};
using S = Shape<64, 64, 16>;

__device__ float get(const float* a, int rows, int cols, int y, int x) {
  if (y >= rows || x >= cols) return 0.0f;
  return a[y * cols + x];
}

__global__ void gap(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float ms[S::BK * S::PITCH];
  __shared__ float ns[S::BK * S::BN];
  const int t = threadIdx.x, tx = t % S::NX, ty = t / S::NX;
  const int top = blockIdx.y * S::BM, left = blockIdx.x * S::BN;
  float p[S::TM][S::TN] = {};
  for (int ph = 0; ph * S::BK < k; ph++) {
    for (int e = t; e < S::BM * S::BK; e += S::NX * S::NY) {
      const int y = e / S::BK, x = e % S::BK;
      ms[x * S::PITCH + y] = get(M, j, k, top + y, ph * S::BK + x);
    }
    for (int e = t; e < S::BK * S::BN; e += S::NX * S::NY) {
      const int y = e / S::BN, x = e % S::BN;
      ns[y * S::BN + x] = get(N, k, l, ph * S::BK + y, left + x);
    }
    __syncthreads();
    for (int i = 0; i < S::BK; i++) {
      float m[S::TM], n[S::TN];
      for (int r = 0; r < S::TM; r++) m[r] = ms[i * S::PITCH + ty * S::TM + r];
      for (int c = 0; c < S::TN; c++) n[c] = ns[i * S::BN + tx + c * S::NX];
      for (int r = 0; r < S::TM; r++)
        for (int c = 0; c < S::TN; c++) p[r][c] += m[r] * n[c];
    }
    __syncthreads();
  }
  for (int r = 0; r < S::TM; r++)
    for (int c = 0; c < S::TN; c++) {
      const int row = top + ty * S::TM + r, col = left + tx + c * S::NX;
      if (row < j && col < l) P[row * l + col] = p[r][c];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + S::BN - 1) / S::BN, (j + S::BM - 1) / S::BM);
  gap<<<grid, S::NX * S::NY>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
