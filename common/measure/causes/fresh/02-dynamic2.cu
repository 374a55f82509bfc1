// Lab 2. One-dimensional blocks, both tiles in one piece of dynamic shared memory, and two
// elements of P for each thread (upper and lower half of the tile).
#include "check.h"

constexpr int LOG_T = 4;
constexpr int T = 1 << LOG_T;
constexpr int NTHREADS = T * T / 2;

extern __shared__ float smem[];

__device__ void fetch(float* dst, const float* src, int pitch, int t) {
  // t, t + 128: the two elements of the tile that are mine
  for (int e = t; e < T * T; e += NTHREADS)
    dst[e] = src[(e >> LOG_T) * pitch + (e & (T - 1))];
}

__global__ void mulTiles(const float* m, const float* n, float* p, int w) {
  float* sm = smem;
  float* sn = smem + T * T;
  const int t = threadIdx.x;
  const int lx = t & (T - 1);
  const int ly = t >> LOG_T;  // 0..7

  const float* mt = m + blockIdx.y * T * w;
  const float* nt = n + blockIdx.x * T;
  float top = 0, bottom = 0;

  int left = w >> LOG_T;
  while (left-- > 0) {
    fetch(sm, mt, w, t);
    fetch(sn, nt, w, t);
    __syncthreads();
    for (int q = 0; q < T; q++) {
      float v = sn[q * T + lx];
      top += sm[ly * T + q] * v;
      bottom += sm[(ly + T / 2) * T + q] * v;
    }
    __syncthreads();
    mt += T;
    nt += T * w;
  }

  float* out = p + (blockIdx.y * T + ly) * w + blockIdx.x * T + lx;
  out[0] = top;
  out[T / 2 * w] = bottom;
}

void solve(const float* M, const float* N, float* P, int width) {
  const unsigned tiles = width >> LOG_T;
  const size_t shared = 2 * T * T * sizeof(float);
  mulTiles<<<dim3(tiles, tiles, 1), dim3(NTHREADS, 1, 1), shared>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
