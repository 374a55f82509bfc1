// Lab 12: a float is a triple of bf16.                                      -- O. Brandt
#include <cuda_runtime.h>

#include "check.h"
#include "tensor.h"

typedef __nv_bfloat16 bf16_t;

const int EDGE = 128;            // of the block's part of P
const int WROWS = 32, WCOLS = 64;  // of a warp's: 4 x 2 warps
const int DEPTH = 16;
const int SKEW = 8;
const int NTHREADS = 256;

const float SCALE = 256.0f;
const float UNSCALE = 1.0f / 256.0f;

// x == p[0] + p[1] / SCALE + p[2] / SCALE^2
struct Triple {
  bf16_t p[3];

  __device__ explicit Triple(float x) {
    p[0] = __float2bfloat16_rn(x);
    float rest = (x - __bfloat162float(p[0])) * SCALE;
    p[1] = __float2bfloat16_rn(rest);
    rest = (rest - __bfloat162float(p[1])) * SCALE;
    p[2] = __float2bfloat16_rn(rest);
  }
};

template <int ROWS, int COLS>
struct TripleTile {
  bf16_t cell[3][ROWS][COLS + SKEW];

  __device__ void fill(const float* a, int rows, int cols, int top, int left) {
    for (int e = threadIdx.x; e < ROWS * COLS; e += NTHREADS) {
      const int r = e / COLS, c = e % COLS;
      float x = 0.0f;
      if (top + r < rows && left + c < cols) x = a[size_t(top + r) * cols + left + c];
      const Triple t(x);
      cell[0][r][c] = t.p[0];
      cell[1][r][c] = t.p[1];
      cell[2][r][c] = t.p[2];
    }
  }
};

__global__ void __launch_bounds__(NTHREADS)
    triples(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(16) TripleTile<EDGE, DEPTH> tm;
  __shared__ __align__(16) TripleTile<DEPTH, EDGE> tn;

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = blockIdx.y * EDGE, left = blockIdx.x * EDGE;
  const int wtop = warp / 2 * WROWS, wleft = warp % 2 * WCOLS;
  const int lrow = lane % 16, lcol = lane / 16 * 8;

  float total[2][8][4] = {};
  for (int k0 = 0; k0 < k; k0 += DEPTH) {
    tm.fill(M, j, k, top, k0);
    tn.fill(N, k, l, k0, left);
    __syncthreads();

    uint32_t a[2][3][4];
    for (int y = 0; y < 2; ++y)
      for (int s = 0; s < 3; ++s)
        load_matrices(a[y][s], &tm.cell[s][wtop + 16 * y + lrow][lcol]);

    for (int x = 0; x < 4; ++x) {  // 16 columns at a time
      uint32_t b[3][4];
      for (int s = 0; s < 3; ++s)
        load_matrices_transposed(b[s], &tn.cell[s][lrow][wleft + 16 * x + lcol]);
      for (int y = 0; y < 2; ++y) {
        for (int h = 0; h < 2; ++h) {
          float tiny[4] = {}, large[4] = {};
          // order 2: 65536 times too large
          for (int s = 0; s <= 2; ++s) multiply_add(tiny, a[y][s], &b[2 - s][2 * h]);
          for (int e = 0; e < 4; ++e) tiny[e] *= UNSCALE;
          // order 1: 256 times
          for (int s = 0; s <= 1; ++s) multiply_add(tiny, a[y][s], &b[1 - s][2 * h]);
          // order 0
          multiply_add(large, a[y][0], &b[0][2 * h]);
          float* t = total[y][2 * x + h];
          for (int e = 0; e < 4; ++e) t[e] += fmaf(tiny[e], UNSCALE, large[e]);
        }
      }
    }
    __syncthreads();
  }

  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 8; ++x) {
      const int col = left + wleft + 8 * x + lane % 4 * 2;
      for (int e = 0; e < 4; e += 2) {
        const int row = top + wtop + 16 * y + lane / 4 + 4 * e;
        if (row >= j || col >= l) continue;
        float* to = P + size_t(row) * l + col;
        if (l % 2 == 0) {
          *reinterpret_cast<float2*>(to) = make_float2(total[y][x][e], total[y][x][e + 1]);
        } else {
          to[0] = total[y][x][e];
          if (col + 1 < l) to[1] = total[y][x][e + 1];
        }
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 blocks((l + EDGE - 1) / EDGE, (j + EDGE - 1) / EDGE);
  triples<<<blocks, NTHREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
