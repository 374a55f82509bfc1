#include "check.h"

#define BS 32
#define KS 8

// 4 warps, each 16 x 16 of P; lanes 4 x 8, each 4 x 2
__global__ void bits(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float sm[KS][BS + 1];
  __shared__ float sn[KS][BS];
  unsigned t = threadIdx.x;
  unsigned warp = t >> 5, lane = t & 31u;
  unsigned wy = (warp >> 1) << 4, wx = (warp & 1u) << 4;
  unsigned ly = (lane >> 3) << 2, lx = (lane & 7u) << 1;
  float acc[4][2] = {};
  for (int k0 = 0; k0 < k; k0 += KS) {
    for (unsigned e = t; e < BS * KS; e += 128) {
      unsigned r = e >> 3, q = e & 7u;
      int gr = blockIdx.y * BS + r, gq = k0 + q;
      sm[q][r] = gr < j && gq < k ? M[gr * k + gq] : 0.f;
    }
    for (unsigned e = t; e < KS * BS; e += 128) {
      unsigned q = e >> 5, c = e & 31u;
      int gq = k0 + q, gc = blockIdx.x * BS + c;
      sn[q][c] = gq < k && gc < l ? N[gq * l + gc] : 0.f;
    }
    __syncthreads();
    for (int q = 0; q < KS; q++) {
      for (int y = 0; y < 4; y++) {
        float m = sm[q][wy + ly + y];
        acc[y][0] += m * sn[q][wx + lx];
        acc[y][1] += m * sn[q][wx + lx + 1];
      }
    }
    __syncthreads();
  }
  for (int y = 0; y < 4; y++) {
    int r = blockIdx.y * BS + wy + ly + y;
    int c = blockIdx.x * BS + wx + lx;
    if (r < j && c < l) P[r * l + c] = acc[y][0];
    if (r < j && c + 1 < l) P[r * l + c + 1] = acc[y][1];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + BS - 1) / BS, (j + BS - 1) / BS);
  bits<<<grid, 128>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
