#include "check.h"

constexpr int S = 32;   // side of a block's part of P
constexpr int D = 16;   // products of a phase

// Threads 0 to 127 load M, threads 128 to 255 load N, four floats each.
__global__ void unpacked(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float mt[S][D];
  __shared__ float4 nt[D][S / 4];
  int t = threadIdx.x;
  int r = t / 8, q = t % 8;
  int row = blockIdx.y * S + r, col = blockIdx.x * S + 4 * q;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k0 = 0; k0 < k; k0 += D) {
    if (t < 128) {
      int mr = t / 4, mc = 4 * (t % 4);
      int gr = blockIdx.y * S + mr, gc = k0 + mc;
      float4 v = make_float4(0, 0, 0, 0);
      if (gr < j) {
        const float* from = &M[gr * k + gc];
        if (k % 4 == 0 && gc < k) {
          v = *(const float4*)from;
        } else {
          if (gc < k) v.x = from[0];
          if (gc + 1 < k) v.y = from[1];
          if (gc + 2 < k) v.z = from[2];
          if (gc + 3 < k) v.w = from[3];
        }
      }
      mt[mr][mc] = v.x;
      mt[mr][mc + 1] = v.y;
      mt[mr][mc + 2] = v.z;
      mt[mr][mc + 3] = v.w;
    } else {
      int nr = (t - 128) / 8, nc = (t - 128) % 8;
      int gr = k0 + nr, gc = blockIdx.x * S + 4 * nc;
      float4 v = make_float4(0, 0, 0, 0);
      if (gr < k) {
        const float* from = &N[gr * l + gc];
        if (l % 4 == 0 && gc < l) {
          v = *(const float4*)from;
        } else {
          if (gc < l) v.x = from[0];
          if (gc + 1 < l) v.y = from[1];
          if (gc + 2 < l) v.z = from[2];
          if (gc + 3 < l) v.w = from[3];
        }
      }
      nt[nr][nc] = v;
    }
    __syncthreads();
    for (int i = 0; i < D; i++) {
      float m = mt[r][i];
      float4 n = nt[i][q];
      sum.x += m * n.x;
      sum.y += m * n.y;
      sum.z += m * n.z;
      sum.w += m * n.w;
    }
    __syncthreads();
  }
  if (row < j) {
    if (col < l) P[row * l + col] = sum.x;
    if (col + 1 < l) P[row * l + col + 1] = sum.y;
    if (col + 2 < l) P[row * l + col + 2] = sum.z;
    if (col + 3 < l) P[row * l + col + 3] = sum.w;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int gx = (l + S - 1) / S;
  int gy = (j + S - 1) / S;
  unpacked<<<dim3(gx, gy), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
