#include "check.h"
#include "tensor.h"

// Two warps side by side; each has 32 rows and 32 columns of P.
using h16 = __nv_bfloat16;
enum { TALL = 32, WIDE = 64, DEEP = 32, GAP = 8 };

template <int ROWS, int COLS>
__device__ void bring(h16 (*to)[COLS + GAP], const float* a, int rows, int cols, int row, int col) {
  for (int i = threadIdx.x; i < ROWS * COLS; i += 64) {
    int y = i / COLS, x = i % COLS;
    bool in = row + y < rows && col + x < cols;
    to[y][x] = __float2bfloat16(in ? a[size_t(row + y) * cols + col + x] : 0.0f);
  }
}

__global__ void quarter(const float* m, const float* n, float* p, int j, int k, int l) {
  __shared__ __align__(16) h16 tm[TALL][DEEP + GAP];
  __shared__ __align__(16) h16 tn[DEEP][WIDE + GAP];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int top = blockIdx.y * TALL, left = blockIdx.x * WIDE;
  int mine = warp * 32;
  float acc[2][4][4] = {};
  for (int d0 = 0; d0 < k; d0 += DEEP) {
    bring<TALL, DEEP>(tm, m, j, k, top, d0);
    bring<DEEP, WIDE>(tn, n, k, l, d0, left);
    __syncthreads();
    for (int d = 0; d < DEEP; d += 16) {
      uint32_t fm[2][4], fn[2][4];
      for (int y = 0; y < 2; y++) load_matrices(fm[y], &tm[y * 16 + lane % 16][d + lane / 16 * 8]);
      for (int x = 0; x < 2; x++)
        load_matrices_transposed(fn[x], &tn[d + lane % 16][mine + x * 16 + lane / 16 * 8]);
      for (int y = 0; y < 2; y++)
        for (int x = 0; x < 4; x++) multiply_add(acc[y][x], fm[y], &fn[x / 2][x % 2 * 2]);
    }
    __syncthreads();
  }
  for (int y = 0; y < 2; y++)
    for (int x = 0; x < 4; x++)
      for (int i = 0; i < 4; i++) {
        int row = top + y * 16 + i / 2 * 8 + lane / 4;
        int col = left + mine + x * 8 + lane % 4 * 2 + i % 2;
        if (row < j && col < l) p[size_t(row) * l + col] = acc[y][x][i];
      }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 blocks((l + WIDE - 1) / WIDE, (j + TALL - 1) / TALL);
  quarter<<<blocks, 64>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
