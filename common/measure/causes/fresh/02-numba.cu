// fast_matmul from the numba docs, in C
#include "check.h"

#define TPB 16

__device__ inline int at(int r, int c) { return r * TPB + c; }

__global__ void fast_matmul(const float* A, const float* B, float* C, int n) {
  __shared__ float sA[TPB * TPB];
  __shared__ float sB[TPB * TPB];

  // the block is one-dimensional; make x and y ourselves
  const int x = threadIdx.x % TPB;
  const int y = threadIdx.x / TPB;
  const int bpg = n / TPB;

  // where this thread reads first
  const float* pa = A + (blockIdx.y * TPB + y) * n + x;
  const float* pb = B + y * n + blockIdx.x * TPB + x;

  float tmp = 0.f;
  int i = 0;
  do {
    sA[at(y, x)] = *pa;
    sB[at(y, x)] = *pb;
    pa += TPB;
    pb += TPB * n;
    __syncthreads();

    for (int j = 0; j < TPB; j++) tmp += sA[at(y, j)] * sB[at(j, x)];
    __syncthreads();
    i++;
  } while (i < bpg);

  const int gy = blockIdx.y * TPB + y;
  const int gx = blockIdx.x * TPB + x;
  C[gy * n + gx] = tmp;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 griddim(width / TPB, width / TPB);
  fast_matmul<<<griddim, TPB * TPB>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
