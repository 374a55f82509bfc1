// Lab 06 without padding: row r of step i stands at place r ^ 2i of its line (a swizzle).
#include "check.h"

typedef unsigned int u32;

static const u32 BLK = 64, DEEP = 16, MINE = 4, DIM = BLK / MINE;

struct TileM {
  float w[DEEP][BLK];
  __device__ static u32 place(u32 step, u32 row) { return row ^ (2 * step); }
  __device__ void put(u32 step, u32 row, float f) { w[step][place(step, row)] = f; }
  __device__ float get(u32 step, u32 row) const { return w[step][place(step, row)]; }
};

__device__ __forceinline__ float read(const float* base, u32 h, u32 w, u32 y, u32 x) {
  return (y < h) & (x < w) ? __ldg(base + (size_t)y * w + x) : 0.f;
}

__global__ void swz(const float* A, const float* B, float* C, u32 J, u32 K, u32 L) {
  __shared__ TileM a;
  __shared__ float b[DEEP][BLK];
  const u32 tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
  const u32 by = blockIdx.y * BLK, bx = blockIdx.x * BLK;

  float c00[MINE][MINE];
  for (u32 y = 0; y < MINE; y++)
    for (u32 x = 0; x < MINE; x++) c00[y][x] = 0.f;

  for (u32 k = 0; k < K; k += DEEP) {
    // 16 x 16 threads: four rows of A each (ty, ty + 16, ...), a step tx
    for (u32 n = 0; n < MINE; n++) {
      u32 row = ty + n * DIM;
      a.put(tx, row, read(A, J, K, by + row, k + tx));
    }
    // 64 threads for a line of B, four lines at a time
    for (u32 n = 0; n < MINE; n++) {
      u32 line = (threadIdx.x >> 6) + n * 4, col = threadIdx.x & 63;
      b[line][col] = read(B, K, L, k + line, bx + col);
    }
    __syncthreads();
    for (u32 s = 0; s < DEEP; s++) {
      float p[MINE], q[MINE];
      for (u32 n = 0; n < MINE; n++) p[n] = a.get(s, ty * MINE + n);
      for (u32 n = 0; n < MINE; n++) q[n] = b[s][n * DIM + tx];
      for (u32 y = 0; y < MINE; y++)
        for (u32 x = 0; x < MINE; x++) c00[y][x] += p[y] * q[x];
    }
    __syncthreads();
  }

  for (u32 y = 0; y < MINE; y++) {
    u32 row = by + ty * MINE + y;
    if (row >= J) continue;
    for (u32 x = 0; x < MINE; x++) {
      u32 col = bx + x * DIM + tx;
      if (col >= L) continue;
      C[(size_t)row * L + col] = c00[y][x];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  u32 gx = (u32(l) + BLK - 1) / BLK;
  u32 gy = (u32(j) + BLK - 1) / BLK;
  swz<<<dim3(gx, gy), DIM * DIM>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
