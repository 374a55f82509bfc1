// Lab 05: block tile 128 x 64, a thread has 8 rows and 4 columns. One-dimensional blocks.
#include "check.h"

enum { ROWS = 128, COLS = 64, DEPTH = 16, H = 8, W = 4 };
enum { ACROSS = COLS / W, DOWN = ROWS / H, NT = ACROSS * DOWN };  // 16 x 16 threads

__global__ void patch(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float mt[DEPTH][ROWS];  // transposed
  __shared__ float nt[DEPTH][COLS];

  const int t = threadIdx.x;
  const int u = t % ACROSS;  // which columns
  const int v = t / ACROSS;  // which rows
  const int top = blockIdx.y * ROWS;
  const int lft = blockIdx.x * COLS;

  // where this thread loads: fixed column of the tile, rows mr, mr + NT / DEPTH, ...
  const int mc = t % DEPTH, mr = t / DEPTH;
  const int nc = t % COLS, nr = t / COLS;

  float acc[H][W];
  for (int a = 0; a < H; a++)
    for (int b = 0; b < W; b++) acc[a][b] = 0.0f;

  for (int p = 0; p < k; p += DEPTH) {
    for (int a = mr; a < ROWS; a += NT / DEPTH) {
      float val = 0.0f;
      if (top + a < j && p + mc < k) val = M[(size_t)(top + a) * k + p + mc];
      mt[mc][a] = val;
    }
    for (int a = nr; a < DEPTH; a += NT / COLS) {
      float val = 0.0f;
      if (p + a < k && lft + nc < l) val = N[(size_t)(p + a) * l + lft + nc];
      nt[a][nc] = val;
    }
    __syncthreads();

#pragma unroll
    for (int q = 0; q < DEPTH; q++) {
      float x[H], y[W];
      for (int a = 0; a < H; a++) x[a] = mt[q][v * H + a];
      for (int b = 0; b < W; b++) y[b] = nt[q][u + b * ACROSS];
      for (int a = 0; a < H; a++)
        for (int b = 0; b < W; b++) acc[a][b] += x[a] * y[b];
    }
    __syncthreads();
  }

  for (int b = 0; b < W; b++) {
    int col = lft + u + b * ACROSS;
    if (col >= l) break;
    for (int a = 0; a < H; a++) {
      int row = top + v * H + a;
      if (row < j) P[(size_t)row * l + col] = acc[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + COLS - 1) / COLS, (j + ROWS - 1) / ROWS);
  patch<<<grid, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
