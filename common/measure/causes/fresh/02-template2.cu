// Template on the tile side, a Tile struct, 1-D blocks of 1024 threads
#include <cstdio>
#include <cstdlib>

template <int S>
struct Tile {
  float at[S][S];

  // every thread brings one value
  __device__ void fetch(const float* src, int pitch, int top, int left, int y, int x) {
    at[y][x] = src[(top + y) * pitch + left + x];
  }
};

template <int S>
__device__ float partial(const Tile<S>& a, const Tile<S>& b, int y, int x) {
  float s = 0.0f;
#pragma unroll
  for (int q = 0; q < S; q++) s += a.at[y][q] * b.at[q][x];
  return s;
}

template <int S>
__global__ void mmTiled(const float* A, const float* B, float* C, int n) {
  __shared__ Tile<S> ta, tb;
  const int x = threadIdx.x % S;
  const int y = threadIdx.x / S;
  const int top = blockIdx.y * S;
  const int left = blockIdx.x * S;

  float result = 0.0f;
  for (int base = 0; base < n; base += S) {
    if (base > 0) __syncthreads();  // the previous tiles are used up
    ta.fetch(A, n, top, base, y, x);
    tb.fetch(B, n, base, left, y, x);
    __syncthreads();
    result += partial<S>(ta, tb, y, x);
  }
  C[(top + y) * n + left + x] = result;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int SIDE = 32;
  dim3 grid(width / SIDE, width / SIDE);
  mmTiled<SIDE><<<grid, SIDE * SIDE>>>(M, N, P, width);
  if (cudaError_t e = cudaGetLastError(); e != cudaSuccess) {
    std::fprintf(stderr, "launch failed: %s\n", cudaGetErrorName(e));
    std::exit(EXIT_FAILURE);
  }
}
