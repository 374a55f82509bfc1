// Lab 05, as a compiler person writes it: everything is a compile-time constant.
#include "check.h"

namespace cfg {
enum { kRows = 64, kCols = 64, kDepth = 8, kPatch = 4, kLanesX = kCols / kPatch,
       kLanesY = kRows / kPatch, kThreads = kLanesX * kLanesY };
}

template <int Rows, int Cols>
struct Fragment {
  float v[Rows][Cols];
  __device__ void clear() {
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int c = 0; c < Cols; ++c) v[r][c] = 0.0f;
  }
  __device__ void rank1(const float (&a)[Rows], const float (&b)[Cols]) {
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int c = 0; c < Cols; ++c) v[r][c] += a[r] * b[c];
  }
};

__device__ inline float guarded(const float* base, int row, int rows, int col, int cols) {
  if (row >= rows || col >= cols) return 0.0f;
  return base[static_cast<size_t>(row) * cols + col];
}

__global__ __launch_bounds__(cfg::kThreads) void gemm(const float* __restrict__ A,
                                                      const float* __restrict__ B,
                                                      float* __restrict__ C, int m, int n, int p) {
  using namespace cfg;
  __shared__ float At[kDepth][kRows];
  __shared__ float Bt[kDepth][kCols];
  const int id = threadIdx.x;
  const int lx = id % kLanesX, ly = id / kLanesX;
  const int row0 = blockIdx.y * kRows, col0 = blockIdx.x * kCols;

  Fragment<kPatch, kPatch> acc;
  acc.clear();
  for (int base = 0; base < n; base += kDepth) {
#pragma unroll
    for (int it = 0; it < kRows * kDepth / kThreads; ++it) {
      const int e = it * kThreads + id;
      At[e % kDepth][e / kDepth] = guarded(A, row0 + e / kDepth, m, base + e % kDepth, n);
      Bt[e / kCols][e % kCols] = guarded(B, base + e / kCols, n, col0 + e % kCols, p);
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      float a[kPatch], b[kPatch];
#pragma unroll
      for (int q = 0; q < kPatch; ++q) {
        a[q] = At[d][ly * kPatch + q];
        b[q] = Bt[d][lx + q * kLanesX];
      }
      acc.rank1(a, b);
    }
    __syncthreads();
  }

  for (int r = 0; r < kPatch; ++r) {
    const int row = row0 + ly * kPatch + r;
    if (row >= m) break;
    for (int c = 0; c < kPatch; ++c) {
      const int col = col0 + lx + c * kLanesX;
      if (col < p) C[static_cast<size_t>(row) * p + col] = acc.v[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + cfg::kCols - 1) / cfg::kCols, (j + cfg::kRows - 1) / cfg::kRows);
  gemm<<<grid, cfg::kThreads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
