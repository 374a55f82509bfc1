#include <cuda_runtime.h>

// A block computes 8 rows of 32 columns; a phase is 32 deep, so the right tile takes four loads.
enum { ROWS = 8, COLS = 32, DEEP = 32 };

__device__ __forceinline__ float get(const float* x, int h, int w, int r, int c) {
  if (r >= h || c >= w) return 0.f;
  return x[(size_t)r * w + c];
}

__global__ void oblong(float* out, const float* lhs, const float* rhs, int h, int d, int w) {
  __shared__ float L[ROWS][DEEP];
  __shared__ float R[DEEP][COLS];
  const int i = threadIdx.y, c = threadIdx.x;
  const int y = blockIdx.y * ROWS + i;
  const int x = blockIdx.x * COLS + c;
  float acc = 0.f;

  for (int base = 0; base < d; base += DEEP) {
    L[i][c] = get(lhs, h, d, y, base + c);
    for (int s = i; s < DEEP; s += ROWS) R[s][c] = get(rhs, d, w, base + s, x);
    __syncthreads();
#pragma unroll
    for (int s = 0; s < DEEP; ++s) acc = fmaf(L[i][s], R[s][c], acc);
    __syncthreads();
  }

  if (y < h && x < w) out[(size_t)y * w + x] = acc;
}

static int tiles(int length, int tile) { return length / tile + (length % tile ? 1 : 0); }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 block(COLS, ROWS);
  const dim3 grid(tiles(l, COLS), tiles(j, ROWS));
  oblong<<<grid, block>>>(P, M, N, j, k, l);
}
