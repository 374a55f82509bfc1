// Lab 02. I come from numpy; A[y0:y0+T, s:s+T] @ B[s:s+T, x0:x0+T] summed over s.
#include "check.h"

template <int T>
struct Pair {
  float a[T][T];
  float b[T][T];
};

template <int T>
__device__ void fetch(Pair<T>& p, const float* a, const float* b, int ld) {
  const int i = threadIdx.y, j = threadIdx.x;
  p.a[i][j] = a[i * ld + j];
  p.b[i][j] = b[i * ld + j];
}

template <int T>
__device__ float dot(const Pair<T>& p) {
  const int i = threadIdx.y, j = threadIdx.x;
  float r = 0;
  for (int s = 0; s < T; ++s) r += p.a[i][s] * p.b[s][j];
  return r;
}

template <int T>
__global__ void matmul(const float* A, const float* B, float* C, int n) {
  __shared__ Pair<T> tiles;
  const int y0 = blockIdx.y * T, x0 = blockIdx.x * T;

  const float* a = A + y0 * n;   // A[y0:, 0:]
  const float* b = B + x0;       // B[0:, x0:]
  float c = 0;
  for (int s = 0; s < n; s += T) {
    fetch<T>(tiles, a, b, n);
    __syncthreads();
    c += dot<T>(tiles);
    __syncthreads();
    a += T;
    b += T * n;
  }
  C[(y0 + threadIdx.y) * n + x0 + threadIdx.x] = c;
}

template <int T>
static void run(const float* A, const float* B, float* C, int n) {
  const dim3 threads(T, T);
  const dim3 blocks(n / T, n / T);
  matmul<T><<<blocks, threads>>>(A, B, C, n);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int width) {
  run<16>(M, N, P, width);
}
