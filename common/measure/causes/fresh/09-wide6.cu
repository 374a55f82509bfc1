// Lab 09 with warp tiles of 32 x 64: 4 x 8 lanes, 8 x 8 results each.
#include "check.h"
#include "copy_async.h"

#define BLOCK 128
#define DEEP 16
#define PITCH_M 20  // DEEP and 4 unused words
#define PITCH_O 80  // 64 columns and 16 unused words
#define NTHREADS 256

typedef float4 vec4;

__device__ __forceinline__ vec4 get(const float* p) { return *(const vec4*)p; }
__device__ __forceinline__ void put(float* p, vec4 v) { *(vec4*)p = v; }

__device__ __forceinline__ void bring(float* dst, const float* A, int h, int w, int r, int c) {
  if (w % 4 != 0) {
    for (int q = 0; q < 4; q++) {
      bool good = r < h && c + q < w;
      copy_async<4>(dst + q, good ? &A[size_t(r) * w + c + q] : A, good);
    }
  } else {
    bool good = r < h && c < w;
    copy_async<16>(dst, good ? &A[size_t(r) * w + c] : A, good);
  }
}

struct Shared {
  alignas(16) float m[2][BLOCK][PITCH_M];
  alignas(16) float n[2][DEEP][BLOCK];
  alignas(16) float o[8][4][PITCH_O];
};

__device__ __forceinline__ void bring_tiles(Shared& sh, int slot, const float* M, const float* N,
                                            int j, int k, int l, int row, int col, int step) {
#pragma unroll
  for (int half = 0; half < 2; half++) {
    int id = threadIdx.x + half * NTHREADS;
    int r = id >> 2, q = id & 3;    // 128 rows of 4 vec4
    int i = id >> 5, g = id & 31;   // 16 rows of 32 vec4
    bring(&sh.m[slot][r][q * 4], M, j, k, row + r, step + q * 4);
    bring(&sh.n[slot][i][g * 4], N, k, l, step + i, col + g * 4);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(NTHREADS, 2)
    warps(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Shared sh;
  const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  const int row = blockIdx.y * BLOCK, col = blockIdx.x * BLOCK;
  const int wr = (w >> 1) * 32, wc = (w & 1) * 64;  // the warp's corner: 4 x 2 warps
  const int y = ((lane >> 1) & 1) | ((lane >> 4) << 1);         // bits 1 and 4
  const int x = (lane & 1) | ((lane >> 1) & 2) | ((lane >> 1) & 4);  // bits 0, 2 and 3

  alignas(16) float acc[8][8] = {};
  bring_tiles(sh, 0, M, N, j, k, l, row, col, 0);
  int slot = 0;
  for (int step = 0; step < k; step += DEEP) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (step + DEEP < k) bring_tiles(sh, slot ^ 1, M, N, j, k, l, row, col, step + DEEP);

#pragma unroll
    for (int i = 0; i < DEEP; i += 4) {
      alignas(16) float a[8][4];
#pragma unroll
      for (int r = 0; r < 8; r++) put(a[r], get(&sh.m[slot][wr + y + 4 * r][i]));
#pragma unroll
      for (int s = 0; s < 4; s++) {
        alignas(16) float b[8];
        put(b, get(&sh.n[slot][i + s][wc + 4 * x]));
        put(b + 4, get(&sh.n[slot][i + s][wc + 32 + 4 * x]));
#pragma unroll
        for (int r = 0; r < 8; r++)
#pragma unroll
          for (int c = 0; c < 8; c++) acc[r][c] += a[r][s] * b[c];
      }
    }
    slot ^= 1;
  }

#pragma unroll
  for (int r = 0; r < 8; r++) {
    put(&sh.o[w][y][4 * x], get(acc[r]));
    put(&sh.o[w][y][32 + 4 * x], get(acc[r] + 4));
    __syncwarp();
    for (int line = 0; line < 4; line++) {
      int pr = row + wr + 4 * r + line;
      for (int c = lane; c < 64; c += 32) {
        int pc = col + wc + c;
        if (pr < j && pc < l) P[size_t(pr) * l + pc] = sh.o[w][line][c];
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  unsigned across = (l + BLOCK - 1) / BLOCK;
  unsigned down = (j + BLOCK - 1) / BLOCK;
  warps<<<dim3(across, down, 1), dim3(NTHREADS)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
