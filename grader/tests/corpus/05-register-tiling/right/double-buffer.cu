// Style: two pairs of tiles, the next one loaded while this one is used

#include "check.h"

constexpr int BM = 64, BN = 64, BK = 16, TM = 4, TN = 4;
constexpr int THREADS = 256;

struct Tiles {
  float m[BK][BM + 2];
  float n[BK][BN];
};

__device__ void load(Tiles& tiles, const float* M, const float* N, int j, int k, int l, int first) {
  int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int e = thread; e < BM * BK; e += THREADS) {
    int row = blockIdx.y * BM + e / BK, col = first + e % BK;
    tiles.m[e % BK][e / BK] = row < j && col < k ? M[size_t(row) * k + col] : 0.0f;
  }
  for (int e = thread; e < BK * BN; e += THREADS) {
    int row = first + e / BN, col = blockIdx.x * BN + e % BN;
    tiles.n[e / BN][e % BN] = row < k && col < l ? N[size_t(row) * l + col] : 0.0f;
  }
}

__global__ void register_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Tiles tiles[2];
  int tx = threadIdx.x, ty = threadIdx.y;
  float sum[TM][TN] = {};
  load(tiles[0], M, N, j, k, l, 0);
  for (int first = 0, now = 0; first < k; first += BK, now = 1 - now) {
    __syncthreads();  // tiles[now] is complete, tiles[1 - now] no longer in use
    if (first + BK < k) load(tiles[1 - now], M, N, j, k, l, first + BK);
    for (int i = 0; i < BK; ++i) {
      float m[TM], n[TN];
      for (int r = 0; r < TM; ++r) m[r] = tiles[now].m[i][ty * TM + r];
      for (int c = 0; c < TN; ++c) n[c] = tiles[now].n[i][tx + c * (BN / TN)];
      for (int r = 0; r < TM; ++r) {
        for (int c = 0; c < TN; ++c) sum[r][c] += m[r] * n[c];
      }
    }
  }
  for (int r = 0; r < TM; ++r) {
    for (int c = 0; c < TN; ++c) {
      int row = blockIdx.y * BM + ty * TM + r, col = blockIdx.x * BN + tx + c * (BN / TN);
      if (row < j && col < l) P[size_t(row) * l + col] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  register_kernel<<<dim3((l + BN - 1) / BN, (j + BM - 1) / BM), dim3(16, 16)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
