// zhou_05.cu - dynamic shared memory, walking pointers, 4x4 results per thread
#include "check.h"

#define SIDE 64
#define KC 16
#define R 4
#define GRP (SIDE / R)

typedef unsigned long long u64;

__global__ void gemm44(const float *M, const float *N, float *P, int j, int k, int l) {
  extern __shared__ float pool[];
  float *const ms = pool;              // KC lines of SIDE
  float *const ns = pool + KC * SIDE;  // KC lines of SIDE

  int tx = threadIdx.x, ty = threadIdx.y;
  int r0 = blockIdx.y * SIDE, c0 = blockIdx.x * SIDE;
  float s00[R] = {0}, s01[R] = {0}, s02[R] = {0}, s03[R] = {0};

  for (int k0 = 0; k0 < k; k0 += KC) {
    // M: thread (tx, ty) takes column k0 + tx, rows ty, ty + 16, ...
    int kc = k0 + tx;
    for (int r = ty; r < SIDE; r += GRP) {
      float v = 0;
      if (kc < k && r0 + r < j) v = M[(u64)(r0 + r) * k + kc];
      ms[tx * SIDE + r] = v;
    }
    // N: thread (tx, ty) takes row k0 + ty, columns tx, tx + 16, ...
    int kr = k0 + ty;
    for (int c = tx; c < SIDE; c += GRP) {
      float v = 0;
      if (kr < k && c0 + c < l) v = N[(u64)kr * l + c0 + c];
      ns[ty * SIDE + c] = v;
    }
    __syncthreads();

    const float *pm = ms + ty * R;
    const float *pn = ns + tx;
    for (int n = KC; n != 0; n--) {
      float a0 = pm[0], a1 = pm[1], a2 = pm[2], a3 = pm[3];
#pragma unroll
      for (int q = 0; q < R; q++) {
        float b = pn[q * GRP];
        s00[q] += a0 * b;
        s01[q] += a1 * b;
        s02[q] += a2 * b;
        s03[q] += a3 * b;
      }
      pm += SIDE;
      pn += SIDE;
    }
    __syncthreads();
  }

  int row = r0 + ty * R;
#pragma unroll
  for (int q = 0; q < R; q++) {
    int col = c0 + tx + q * GRP;
    if (col < l) {
      float *to = P + (u64)row * l + col;
      if (row + 0 < j) to[0] = s00[q];
      if (row + 1 < j) to[(u64)l] = s01[q];
      if (row + 2 < j) to[(u64)l * 2] = s02[q];
      if (row + 3 < j) to[(u64)l * 3] = s03[q];
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  int across = (l - 1) / SIDE + 1;
  int down = (j - 1) / SIDE + 1;
  size_t shared = sizeof(float) * 2 * KC * SIDE;
  gemm44<<<dim3(across, down), dim3(GRP, GRP), shared>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
