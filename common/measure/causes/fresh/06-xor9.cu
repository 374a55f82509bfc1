// No padding: row i of the tile of M is stored with its columns xor'ed by 2 i.
#include "check.h"

const int BM = 64, BN = 64, BK = 16, RR = 4, CC = 4;
const int NX = BN / CC, NY = BM / RR, ALL = NX * NY;

__device__ int where(int i, int r) { return i * BM + (r ^ (2 * i)); }

__device__ void load_m(float* tile, const float* M, int j, int k, int row0, int col0, int id) {
  for (int e = id; e < BM * BK; e += ALL) {
    int r = e / BK, i = e % BK;
    float x = 0;
    if (row0 + r < j && col0 + i < k) x = M[(size_t)(row0 + r) * k + col0 + i];
    tile[where(i, r)] = x;
  }
}

__device__ void load_n(float* tile, const float* N, int k, int l, int row0, int col0, int id) {
  for (int e = id; e < BK * BN; e += ALL) {
    int i = e / BN, c = e % BN;
    float x = 0;
    if (row0 + i < k && col0 + c < l) x = N[(size_t)(row0 + i) * l + col0 + c];
    tile[e] = x;
  }
}

__global__ void xored(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float mt[BK * BM];
  __shared__ float nt[BK * BN];
  int tx = threadIdx.x, ty = threadIdx.y, id = ty * NX + tx;
  int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float s[RR][CC] = {{0}};

  for (int done = 0; done < k; done += BK) {
    load_m(mt, M, j, k, row0, done, id);
    load_n(nt, N, k, l, done, col0, id);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; i++) {
      float m[RR];
      for (int r = 0; r < RR; r++) m[r] = mt[where(i, ty * RR + r)];
      for (int c = 0; c < CC; c++) {
        float n = nt[i * BN + tx + c * NX];
        for (int r = 0; r < RR; r++) s[r][c] += m[r] * n;
      }
    }
    __syncthreads();
  }

  for (int c = 0; c < CC; c++) {
    int col = col0 + tx + c * NX;
    if (col >= l) continue;
    for (int r = 0; r < RR; r++) {
      int row = row0 + ty * RR + r;
      if (row < j) P[(size_t)row * l + col] = s[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + BN - 1) / BN, (j + BM - 1) / BM), block(NX, NY);
  xored<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
