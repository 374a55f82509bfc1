#include "check.h"

// Four warps, each with a quarter of 32 x 32 elements; a lane has 4 x 8 of them.
constexpr int B = 64, Q = 32, KK = 8;

__global__ void quarter(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float ms[KK][B];
  __shared__ float ns[KK][B];
  int t = threadIdx.x;
  int warp = t / 32, lane = t % 32;
  int down = (warp / 2) * Q + (lane / 4) * 4;
  int right = (warp % 2) * Q + (lane % 4) * 8;
  const float* m0 = M + size_t(blockIdx.y) * B * k;
  const float* n0 = N + blockIdx.x * B;
  int rows = j - blockIdx.y * B, cols = l - blockIdx.x * B;

  float out[4][8] = {};
  for (int p = 0; p < k; p += KK) {
    for (int e = t; e < B * KK; e += 128) {
      int r = e / KK, i = e % KK;
      ms[i][r] = r < rows && p + i < k ? m0[r * k + p + i] : 0.f;
    }
    for (int e = t; e < KK * B; e += 128) {
      int i = e / B, c = e % B;
      ns[i][c] = c < cols && p + i < k ? n0[(p + i) * l + c] : 0.f;
    }
    __syncthreads();
    for (int i = 0; i < KK; ++i)
      for (int y = 0; y < 4; ++y) {
        float m = ms[i][down + y];
        for (int x = 0; x < 8; ++x) out[y][x] += m * ns[i][right + x];
      }
    __syncthreads();
  }
  float* corner = P + size_t(blockIdx.y) * B * l + blockIdx.x * B;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 8; ++x)
      if (down + y < rows && right + x < cols) corner[(down + y) * l + right + x] = out[y][x];
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  quarter<<<dim3((l + B - 1) / B, (j + B - 1) / B), 128>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
