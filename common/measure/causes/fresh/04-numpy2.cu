// C = A @ B with shapes (j, k) @ (k, l). ndarray-like views with shape and strides.
#include "check.h"

constexpr int TILE = 16;
constexpr int DEPTH = 32;  // of a chunk along the common axis: two tiles at once

struct NdArray {
  const float* data;
  int shape[2];
  size_t strides[2];
  __device__ float get(int i0, int i1) const {
    float value = 0.0f;
    if (i0 < shape[0] && i1 < shape[1]) value = data[i0 * strides[0] + i1 * strides[1]];
    return value;
  }
};

static NdArray view(const float* data, int rows, int cols) {
  NdArray a;
  a.data = data;
  a.shape[0] = rows;
  a.shape[1] = cols;
  a.strides[0] = cols;
  a.strides[1] = 1;
  return a;
}

__global__ void matmul(const NdArray A, const NdArray B, float* C) {
  __shared__ float a[TILE][DEPTH];
  __shared__ float b[DEPTH][TILE];

  const int tid = threadIdx.y * TILE + threadIdx.x;
  const int i0 = blockIdx.y * TILE;
  const int j0 = blockIdx.x * TILE;
  const int common = A.shape[1];

  float acc = 0.0f;
  for (int k0 = 0; k0 < common; k0 += DEPTH) {
    for (int e = tid; e < TILE * DEPTH; e += TILE * TILE) {
      a[e / DEPTH][e % DEPTH] = A.get(i0 + e / DEPTH, k0 + e % DEPTH);
      b[e / TILE][e % TILE] = B.get(k0 + e / TILE, j0 + e % TILE);
    }
    __syncthreads();
    const int depth = min(DEPTH, common - k0);
    for (int k = 0; k < depth; ++k) acc += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }

  const int i = i0 + threadIdx.y, j = j0 + threadIdx.x;
  if (i < A.shape[0] && j < B.shape[1]) C[size_t(i) * B.shape[1] + j] = acc;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto ceil = [](int n) { return (n + TILE - 1) / TILE; };
  const NdArray A = view(M, j, k), B = view(N, k, l);
  const dim3 grid(ceil(B.shape[1]), ceil(A.shape[0]));
  matmul<<<grid, dim3(TILE, TILE)>>>(A, B, P);
  CHECK(cudaGetLastError());
}
