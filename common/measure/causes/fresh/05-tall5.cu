// tall tiles: 128 x 64 of P, 8 x 4 per thread
#include "check.h"

#define ROWS 128
#define COLS 64
#define DEEP 8
#define PR 8
#define PC 4
#define TX (COLS / PC)
#define TY (ROWS / PR)
#define NT (TX * TY)

__device__ void load_m(float dst[DEEP][ROWS], const float* M, int j, int k, int r0, int k0, int t) {
  for (int n = 0; n < ROWS * DEEP / NT; n++) {
    int e = n * NT + t;
    int kk = e % DEEP, rr = e / DEEP;
    float val = 0.0f;
    if (r0 + rr < j && k0 + kk < k) val = M[(size_t)(r0 + rr) * k + (k0 + kk)];
    dst[kk][rr] = val;
  }
}

__device__ void load_n(float dst[DEEP][COLS], const float* N, int k, int l, int k0, int c0, int t) {
  for (int n = 0; n < DEEP * COLS / NT; n++) {
    int e = n * NT + t;
    int cc = e % COLS, kk = e / COLS;
    float val = 0.0f;
    if (k0 + kk < k && c0 + cc < l) val = N[(size_t)(k0 + kk) * l + (c0 + cc)];
    dst[kk][cc] = val;
  }
}

__global__ void tall(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float ms[DEEP][ROWS];
  __shared__ float ns[DEEP][COLS];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int t = ty * TX + tx;
  const int r0 = blockIdx.y * ROWS, c0 = blockIdx.x * COLS;
  float acc[PR * PC];
  for (int a = 0; a < PR * PC; a++) acc[a] = 0.0f;

  int k0 = 0;
  do {
    load_m(ms, M, j, k, r0, k0, t);
    load_n(ns, N, k, l, k0, c0, t);
    __syncthreads();
    for (int i = 0; i < DEEP; i++) {
      float vn[PC];
      for (int c = 0; c < PC; c++) vn[c] = ns[i][c * TX + tx];
      for (int r = 0; r < PR; r++) {
        float vm = ms[i][ty * PR + r];
        for (int c = 0; c < PC; c++) acc[r * PC + c] += vm * vn[c];
      }
    }
    __syncthreads();
    k0 += DEEP;
  } while (k0 < k);

  for (int r = 0; r < PR; r++) {
    int row = r0 + ty * PR + r;
    float* line = P + (size_t)row * l;
    for (int c = 0; c < PC; c++) {
      int col = c0 + c * TX + tx;
      if (row < j && col < l) line[col] = acc[r * PC + c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 threads(TX, TY);
  dim3 blocks;
  blocks.x = (l + COLS - 1) / COLS;
  blocks.y = (j + ROWS - 1) / ROWS;
  tall<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
