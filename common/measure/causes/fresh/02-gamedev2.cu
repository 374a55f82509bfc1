// tiles, like in tile based renderers
#include "check.h"

#define TS 32            // tile size
#define ROWS_PER_PASS 8  // a block has TS x 8 threads, everyone handles 4 rows

struct Pair {
  float a[TS * TS];
  float b[TS * TS];
};

__global__ void TiledMul(const float* A, const float* B, float* C, int size) {
  __shared__ Pair cache;

  const int lx = threadIdx.x;
  const int ly = threadIdx.y;
  const int gx = blockIdx.x * TS + lx;
  const int baseY = blockIdx.y * TS;

  float acc[TS / ROWS_PER_PASS] = {0.f, 0.f, 0.f, 0.f};

  for (int start = 0; start < size; start += TS) {
    // fetch
    for (int y = ly; y < TS; y += ROWS_PER_PASS) {
      cache.a[y * TS + lx] = A[(baseY + y) * size + (start + lx)];
      cache.b[y * TS + lx] = B[(start + y) * size + gx];
    }
    __syncthreads();

    // accumulate
    for (int s = 0; s < TS; ++s) {
      const float bv = cache.b[s * TS + lx];
#pragma unroll
      for (int p = 0; p < TS / ROWS_PER_PASS; ++p) {
        acc[p] += cache.a[(ly + p * ROWS_PER_PASS) * TS + s] * bv;
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int p = 0; p < TS / ROWS_PER_PASS; ++p) {
    const int gy = baseY + ly + p * ROWS_PER_PASS;
    C[gy * size + gx] = acc[p];
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int tiles = width / TS;
  TiledMul<<<dim3(tiles, tiles), dim3(TS, ROWS_PER_PASS)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
