// Instead of padding: lane e of a warp takes two rows less apart, and the tile is kept in pairs of stages.
// Two buffers, so that one barrier per round is enough.
#include "check.h"

enum { TM = 64, TN = 64, TK = 16, W = 66 };

struct Buf {
  float a[TK][W];   // transposed, 66 words a row
  float b[TK][TN];
};

__device__ __forceinline__ void grab(Buf& to, const float* M, const float* N, int j, int k, int l,
                                     int r0, int c0, int k0, int t) {
  for (int n = 0; n < 4; ++n) {
    int e = t + 256 * n;
    int r = e >> 4, i = e & 15;
    bool in = (r0 + r < j) & (k0 + i < k);
    to.a[i][r] = in ? M[(long)(r0 + r) * k + k0 + i] : 0.f;
    int d = e >> 6, c = e & 63;
    in = (k0 + d < k) & (c0 + c < l);
    to.b[d][c] = in ? N[(long)(k0 + d) * l + c0 + c] : 0.f;
  }
}

__global__ void kern(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Buf buf[2];
  int t = threadIdx.x;
  int x = t & 15, y = t >> 4;
  int r0 = blockIdx.y * TM, c0 = blockIdx.x * TN;
  float s[16] = {};

  int cur = 0;
  grab(buf[cur], M, N, j, k, l, r0, c0, 0, t);
  for (int k0 = 0; k0 < k; k0 += TK) {
    __syncthreads();
    if (k0 + TK < k) grab(buf[cur ^ 1], M, N, j, k, l, r0, c0, k0 + TK, t);
    const Buf& now = buf[cur];
    for (int i = 0; i < TK; ++i) {
      float a0 = now.a[i][4 * y], a1 = now.a[i][4 * y + 1];
      float a2 = now.a[i][4 * y + 2], a3 = now.a[i][4 * y + 3];
      for (int c = 0; c < 4; ++c) {
        float b = now.b[i][x + 16 * c];
        s[c] += a0 * b;
        s[4 + c] += a1 * b;
        s[8 + c] += a2 * b;
        s[12 + c] += a3 * b;
      }
    }
    cur ^= 1;
  }

  for (int q = 0; q < 16; ++q) {
    int row = r0 + 4 * y + q / 4;
    int col = c0 + x + 16 * (q % 4);
    if (row < j && col < l) P[(long)row * l + col] = s[q];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int gx = l / TN + !!(l % TN), gy = j / TM + !!(j % TM);
  kern<<<dim3(gx, gy), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
