#include <cuda_runtime.h>

constexpr unsigned T = 16;

struct Square {
  const float* p;
  unsigned n;
  // 0 outside
  __device__ float operator()(unsigned y, unsigned x) const {
    if (y >= n || x >= n) return 0.0f;
    return p[y * n + x];
  }
};

__global__ void bounded(const float* A, const float* B, float* C, unsigned n) {
  __shared__ float a[T * T], b[T * T];
  const Square readA{A, n}, readB{B, n};
  const unsigned me = threadIdx.x, y = me / T, x = me % T;
  const unsigned row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0.0f;
  unsigned at = 0;
  while (at < n) {
    a[me] = readA(row, at + x);
    b[me] = readB(at + y, col);
    __syncthreads();
    const float *pa = a + y * T, *pb = b + x;
    for (unsigned i = T; i; --i, ++pa, pb += T) sum += *pa * *pb;
    __syncthreads();
    at += T;
  }
  const bool inside = row < n && col < n;
  if (!inside) return;
  C[row * n + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  const unsigned n = width, tiles = (n + T - 1) / T;
  bounded<<<dim3(tiles, tiles), T * T>>>(M, N, P, n);
}
