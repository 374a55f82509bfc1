#include "check.h"
#include "copy_async.h"

#define TILE 32
#define ROWS 8
#define STAGES 3

__global__ void gemm_async(const float* A, const float* B, float* C, int m, int k, int n) {
  __shared__ float sA[STAGES][TILE][TILE];
  __shared__ float sB[STAGES][TILE][TILE];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.y * TILE;
  const int col0 = blockIdx.x * TILE;
  const int tiles = (k + TILE - 1) / TILE;

  auto fetch = [&](int t) {
    int slot = t % STAGES;
    for (int r = ty; r < TILE; r += ROWS) {
      int ar = row0 + r, ac = t * TILE + tx;
      bool okA = ar < m && ac < k;
      copy_async<4>(&sA[slot][r][tx], okA ? &A[ar * k + ac] : A, okA);
      int br = t * TILE + r, bc = col0 + tx;
      bool okB = br < k && bc < n;
      copy_async<4>(&sB[slot][r][tx], okB ? &B[br * n + bc] : B, okB);
    }
  };

  // fill the pipeline
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < tiles) fetch(s);
    __pipeline_commit();
  }

  float acc[TILE / ROWS] = {0.f, 0.f, 0.f, 0.f};
  for (int t = 0; t < tiles; t++) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    int next = t + STAGES - 1;
    if (next < tiles) fetch(next);
    __pipeline_commit();

    int slot = t % STAGES;
    for (int p = 0; p < TILE; p++) {
      float bval = sB[slot][p][tx];
      for (int i = 0; i < TILE / ROWS; i++) acc[i] += sA[slot][ty + i * ROWS][p] * bval;
    }
  }

  for (int i = 0; i < TILE / ROWS; i++) {
    int r = row0 + ty + i * ROWS, c = col0 + tx;
    if (r < m && c < n) C[r * n + c] = acc[i];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 block(TILE, ROWS);
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  gemm_async<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
