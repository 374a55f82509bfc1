#include "check.h"

// The next tile waits in registers while this one is multiplied.
#define B 32
#define NT 256
#define MINE (B * B / NT)

__global__ void carry(const float* __restrict__ M, const float* __restrict__ N, float* __restrict__ P,
                      int j, int k, int l) {
  __shared__ float tm[2][B][B], tn[2][B][B];
  const int c = threadIdx.x % B, r0 = threadIdx.x / B * MINE;
  const int y0 = blockIdx.y * B, x0 = blockIdx.x * B;
  float nextM[MINE], nextN[MINE], sum[MINE];
  const int tiles = (k + B - 1) / B;

  auto fetch = [&](int tile) {
    for (int i = 0; i < MINE; i++) {
      const int ym = y0 + r0 + i, xm = tile * B + c;
      const int yn = tile * B + r0 + i, xn = x0 + c;
      nextM[i] = ym < j && xm < k ? M[ym * k + xm] : 0.0f;
      nextN[i] = yn < k && xn < l ? N[yn * l + xn] : 0.0f;
    }
  };
  auto put = [&](int slot) {
    for (int i = 0; i < MINE; i++) {
      tm[slot][r0 + i][c] = nextM[i];
      tn[slot][r0 + i][c] = nextN[i];
    }
  };

  for (int i = 0; i < MINE; i++) sum[i] = 0.0f;
  fetch(0);
  put(0);
  __syncthreads();
  for (int tile = 0; tile < tiles; tile++) {
    const int now = tile & 1;
    if (tile + 1 < tiles) fetch(tile + 1);
    for (int d = 0; d < B; d++)
      for (int i = 0; i < MINE; i++) sum[i] += tm[now][r0 + i][d] * tn[now][d][c];
    if (tile + 1 < tiles) put(now ^ 1);
    __syncthreads();
  }
  for (int i = 0; i < MINE; i++) {
    const int y = y0 + r0 + i, x = x0 + c;
    if (y < j && x < l) P[y * l + x] = sum[i];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + B - 1) / B, (j + B - 1) / B);
  carry<<<grid, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
