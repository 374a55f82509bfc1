// Lab 02 (Tomasz): template on the tile size, pointers that walk over M and N.
#include "check.h"

template <int T>
struct Pair {
  float m[T][T];
  float n[T][T];
};

template <int T>
__device__ float partial(const Pair<T>& tiles, int y, int x) {
  float s = 0.0f;
#pragma unroll
  for (int q = 0; q != T; ++q) s += tiles.m[y][q] * tiles.n[q][x];
  return s;
}

template <int T>
__global__ void __launch_bounds__(T* T) walk(const float* M, const float* N, float* P, int w) {
  __shared__ Pair<T> tiles;
  const int x = threadIdx.x, y = threadIdx.y;

  const float* m = M + (blockIdx.y * T + y) * w + x;
  const float* n = N + y * w + blockIdx.x * T + x;
  const float* const end = m + w;
  const int down = T * w;

  float total = 0.0f;
  while (m < end) {
    tiles.m[y][x] = *m;
    tiles.n[y][x] = *n;
    m += T;
    n += down;
    __syncthreads();
    total += partial(tiles, y, x);
    __syncthreads();
  }
  P[(blockIdx.y * T + y) * w + (blockIdx.x * T + x)] = total;
}

template <int T>
void launch(const float* M, const float* N, float* P, int w) {
  const unsigned side = w / T;
  walk<T><<<dim3(side, side), dim3(T, T)>>>(M, N, P, w);
}

void solve(const float* M, const float* N, float* P, int width) {
  if (width % 32 == 0) {
    launch<32>(M, N, P, width);
  } else {
    launch<16>(M, N, P, width);
  }
  CHECK(cudaGetLastError());
}
