// lab 5. 128 threads, each 8 x 4 results: 8 rows y, y+8, ... and 4 columns x, x+16, ...
#include "check.h"

#define TILE_R 64
#define TILE_C 64
#define TILE_K 16
#define NX 16
#define NY 8
#define PR (TILE_R / NY)
#define PC (TILE_C / NX)
#define NT (NX * NY)

#define FOR(v, n) _Pragma("unroll") for (int v = 0; v < (n); v++)

__global__ void tall(const float* A, const float* B, float* C, int h, int m, int w) {
  __shared__ float as[TILE_K][TILE_R];
  __shared__ float bs[TILE_K][TILE_C];
  int tid = threadIdx.y * NX + threadIdx.x;
  int r0 = blockIdx.y * TILE_R;
  int c0 = blockIdx.x * TILE_C;

  // where this thread begins to load
  int ar = tid / TILE_K, ak = tid % TILE_K;
  int bk = tid / TILE_C, bc = tid % TILE_C;

  float res[PR * PC];
  FOR(i, PR * PC) res[i] = 0.0f;

  int k0 = 0;
  while (k0 < m) {
    for (int r = ar; r < TILE_R; r += NT / TILE_K) {
      float f = 0.0f;
      if (r0 + r < h && k0 + ak < m) f = A[(size_t)(r0 + r) * m + k0 + ak];
      as[ak][r] = f;
    }
    for (int q = bk; q < TILE_K; q += NT / TILE_C) {
      float f = 0.0f;
      if (k0 + q < m && c0 + bc < w) f = B[(size_t)(k0 + q) * w + c0 + bc];
      bs[q][bc] = f;
    }
    __syncthreads();

    for (int q = 0; q < TILE_K; q++) {
      float ra[PR];
      FOR(i, PR) ra[i] = as[q][threadIdx.y + i * NY];
      FOR(z, PC) {
        float rb = bs[q][threadIdx.x + z * NX];
        FOR(i, PR) res[i * PC + z] += ra[i] * rb;
      }
    }
    __syncthreads();
    k0 += TILE_K;
  }

  FOR(i, PR) {
    int row = r0 + threadIdx.y + i * NY;
    float* line = C + (size_t)row * w + c0 + threadIdx.x;
    FOR(z, PC) {
      if (row < h && c0 + threadIdx.x + z * NX < w) line[z * NX] = res[i * PC + z];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 t(NX, NY);
  dim3 b((l + TILE_C - 1) / TILE_C, (j + TILE_R - 1) / TILE_R);
  tall<<<b, t>>>(M, N, P, j, k, l);
  CHECK(cudaPeekAtLastError());
}
