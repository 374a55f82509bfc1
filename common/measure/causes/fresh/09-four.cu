#include "check.h"

// Four warps, two by two; a warp has 32 x 32, a lane 4 x 8 of these.
static constexpr int WARP_ROWS = 32, WARP_COLS = 32, BLOCK_ROWS = 64, BLOCK_COLS = 64, STEP = 8;

struct Where {
  int row, col;
};

__device__ Where of_lane(int thread) {
  const int warp = thread / 32, lane = thread % 32;
  Where w;
  w.row = warp / 2 * WARP_ROWS + lane / 4 * 4;
  w.col = warp % 2 * WARP_COLS + lane % 4 * 8;
  return w;
}

__global__ void four(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float left[BLOCK_ROWS][STEP + 1];
  __shared__ float right[STEP][BLOCK_COLS];
  const Where at = of_lane(threadIdx.x);
  const int y0 = BLOCK_ROWS * blockIdx.y, x0 = BLOCK_COLS * blockIdx.x;
  float sum[4][8];
  for (auto& row : sum)
    for (float& one : row) one = 0.0f;
  for (int from = 0; from < k; from += STEP) {
    for (int e = threadIdx.x; e < BLOCK_ROWS * STEP; e += 128) {
      const int y = e / STEP, x = e % STEP;
      left[y][x] = y0 + y < j && from + x < k ? M[(y0 + y) * k + from + x] : 0.0f;
    }
    for (int e = threadIdx.x; e < STEP * BLOCK_COLS; e += 128) {
      const int y = e / BLOCK_COLS, x = e % BLOCK_COLS;
      right[y][x] = from + y < k && x0 + x < l ? N[(from + y) * l + x0 + x] : 0.0f;
    }
    __syncthreads();
    for (int d = 0; d < STEP; d++) {
      float a[4], b[8];
      for (int r = 0; r < 4; r++) a[r] = left[at.row + r][d];
      for (int c = 0; c < 8; c++) b[c] = right[d][at.col + c];
      for (int r = 0; r < 4; r++)
        for (int c = 0; c < 8; c++) sum[r][c] += a[r] * b[c];
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; r++) {
    const int y = y0 + at.row + r;
    for (int c = 0; c < 8 && y < j; c++) {
      const int x = x0 + at.col + c;
      if (x < l) P[y * l + x] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  four<<<dim3((l + 63) / 64, (j + 63) / 64), 128>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
