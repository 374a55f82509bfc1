#include "check.h"

#define BS 16

struct Block {
  int row0, col0;
};

__device__ void clear(float (*t)[BS]) { t[threadIdx.y][threadIdx.x] = 0; }

__device__ void load(float (*t)[BS], const float *m, int r0, int c0, int n) {
  int r = r0 + threadIdx.y, c = c0 + threadIdx.x;
  if (r >= n || c >= n) { clear(t); return; }
  t[threadIdx.y][threadIdx.x] = m[r * n + c];
}

__global__ void mult(const float *M, const float *N, float *P, int n) {
  __shared__ float a[BS][BS], b[BS][BS];
  Block mine;
  mine.row0 = blockIdx.y * BS;
  mine.col0 = blockIdx.x * BS;
  float c = 0.0f;
  for (int k0 = 0; k0 < n; k0 += BS) {
    load(a, M, mine.row0, k0, n);
    load(b, N, k0, mine.col0, n);
    __syncthreads();
    for (int k = 0; k < BS; k++) c += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  int r = mine.row0 + threadIdx.y;
  int q = mine.col0 + threadIdx.x;
  if (r < n && q < n) P[r * n + q] = c;
}

void solve(const float *M, const float *N, float *P, int width) {
  int nb = (width - 1) / BS + 1;
  mult<<<dim3(nb, nb), dim3(BS, BS)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
