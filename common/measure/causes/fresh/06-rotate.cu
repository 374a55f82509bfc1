// Lab 06: no padding. Each row of the transposed tile is rotated by a distance of its own.
#include "check.h"

constexpr int SIDE = 64, DEPTH = 16, PER = 4, LINE = SIDE / PER;

struct Rotated {  // DEPTH rows of SIDE words, row i turned by 2 i
  float words[DEPTH * SIDE];
  __device__ float& at(int i, int r) { return words[i * SIDE + (r + 2 * i) % SIDE]; }
};
struct Straight {
  float words[DEPTH * SIDE];
  __device__ float& at(int i, int c) { return words[i * SIDE + c]; }
};

__device__ float fetch(const float* A, int rows, int cols, int r, int c) {
  if (r >= rows || c >= cols) return 0.0f;
  return __ldg(A + size_t(cols) * r + c);
}

__global__ void __launch_bounds__(256)
    rotateKernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Rotated lhs;
  __shared__ Straight rhs;
  const int tid = threadIdx.x;
  const int gx = tid % LINE, gy = tid / LINE;
  const int top = SIDE * blockIdx.y, left = SIDE * blockIdx.x;

  float c[PER * PER] = {0};
  const int rounds = (k + DEPTH - 1) / DEPTH;
  for (int round = 0; round < rounds; ++round) {
    const int z = round * DEPTH;
#pragma unroll
    for (int s = 0; s < PER; ++s) {
      const int r = s * LINE + gy;
      lhs.at(gx, r) = fetch(M, j, k, top + r, z + gx);
    }
#pragma unroll
    for (int s = 0; s < PER; ++s) {
      const int i = s * PER + tid / SIDE, col = tid % SIDE;
      rhs.at(i, col) = fetch(N, k, l, z + i, left + col);
    }
    __syncthreads();
    for (int i = 0; i < DEPTH; ++i) {
      float a[PER], b[PER];
#pragma unroll
      for (int q = 0; q < PER; ++q) {
        a[q] = lhs.at(i, gy * PER + q);
        b[q] = rhs.at(i, gx + q * LINE);
      }
#pragma unroll
      for (int q = 0; q < PER * PER; ++q) c[q] += a[q / PER] * b[q % PER];
    }
    __syncthreads();
  }

  for (int q = 0; q < PER * PER; ++q) {
    const int row = top + gy * PER + q / PER;
    const int col = left + gx + q % PER * LINE;
    if (row < j && col < l) P[size_t(row) * l + col] = c[q];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 g((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE);
  rotateKernel<<<g, LINE * LINE>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
