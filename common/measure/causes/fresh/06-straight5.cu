// bank conflicts: do not transpose the tile of M at all, and give a thread every 16th row.
// Two neighbouring rows of 16 words fill the 32 banks.
#include "check.h"

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
#define FOR(i, n) for (int i = 0; i < (n); ++i)

const int bs = 16;        // threads per side, also the depth of a phase
const int reps = 4;       // elements per thread and side
const int big = bs * reps;

typedef float (*rows16)[bs];
typedef float (*rows64)[big];

__device__ void load_m(rows16 dst, const float* src, int height, int width, int y0, int x0) {
  int x = x0 + threadIdx.x;
  FOR(q, reps) {
    int local = q * bs + threadIdx.y;
    int y = y0 + local;
    dst[local][threadIdx.x] = (x < width) && (y < height) ? src[size_t(y) * width + x] : 0.0f;
  }
}

__device__ void load_n(rows64 dst, const float* src, int height, int width, int y0, int x0) {
  int id = threadIdx.y * bs + threadIdx.x;
  int local = id % big;
  int x = x0 + local;
  for (int h = id / big; h < bs; h += reps) {
    int y = y0 + h;
    dst[h][local] = (x < width) && (y < height) ? src[size_t(y) * width + x] : 0.0f;
  }
}

__global__ void straight(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float tile_m[big][bs];
  __shared__ float tile_n[bs][big];
  float acc[reps * reps] = {0};
  int y0 = blockIdx.y * big, x0 = blockIdx.x * big;

  FOR(phase, DIV_UP(k, bs)) {
    if (phase > 0) __syncthreads();  // the old tiles are used up
    load_m(tile_m, M, j, k, y0, phase * bs);
    load_n(tile_n, N, k, l, phase * bs, x0);
    __syncthreads();

    FOR(i, bs) {
      float b[reps];
      FOR(c, reps) b[c] = tile_n[i][c * bs + threadIdx.x];
      FOR(r, reps) {
        float a = tile_m[r * bs + threadIdx.y][i];
        FOR(c, reps) acc[r * reps + c] += a * b[c];
      }
    }
  }

  FOR(r, reps) FOR(c, reps) {
    int y = y0 + r * bs + threadIdx.y;
    int x = x0 + c * bs + threadIdx.x;
    if (y < j && x < l) P[size_t(y) * l + x] = acc[r * reps + c];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 blocks(DIV_UP(l, big), DIV_UP(j, big));
  dim3 threads(bs, bs);
  straight<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
