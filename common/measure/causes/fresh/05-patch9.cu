// Register tiling, 1-D block of 256, patch of a thread as a struct.
#include "check.h"

namespace cfg {
constexpr int rows = 64, cols = 64, depth = 16;  // of a block
constexpr int side = 4;                          // of a thread's patch
constexpr int tx = cols / side, ty = rows / side;
constexpr int threads = tx * ty;
}  // namespace cfg

struct Patch {
  float v[cfg::side][cfg::side];
  __device__ void clear() {
#pragma unroll
    for (int a = 0; a < cfg::side; ++a)
#pragma unroll
      for (int b = 0; b < cfg::side; ++b) v[a][b] = 0.0f;
  }
  __device__ void outer(const float (&x)[cfg::side], const float (&y)[cfg::side]) {
#pragma unroll
    for (int a = 0; a < cfg::side; ++a)
#pragma unroll
      for (int b = 0; b < cfg::side; ++b) v[a][b] += x[a] * y[b];
  }
};

template <int H, int V, typename Put>
__device__ void each(int who, Put put) {
#pragma unroll
  for (int turn = 0; turn < H * V / cfg::threads; ++turn) {
    int at = turn * cfg::threads + who;
    put(at / V, at % V);
  }
}

__global__ void __launch_bounds__(cfg::threads)
    patches(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float left[cfg::depth][cfg::rows];
  __shared__ float right[cfg::depth][cfg::cols];
  const int me = threadIdx.x, x = me % cfg::tx, y = me / cfg::tx;
  const int top = blockIdx.y * cfg::rows, edge = blockIdx.x * cfg::cols;

  Patch patch;
  patch.clear();
  for (int from = 0; from < k; from += cfg::depth) {
    each<cfg::rows, cfg::depth>(me, [&](int r, int d) {
      bool there = top + r < j && from + d < k;
      left[d][r] = there ? M[size_t(top + r) * k + (from + d)] : 0.0f;
    });
    each<cfg::depth, cfg::cols>(me, [&](int d, int c) {
      bool there = from + d < k && edge + c < l;
      right[d][c] = there ? N[size_t(from + d) * l + (edge + c)] : 0.0f;
    });
    __syncthreads();
#pragma unroll
    for (int d = 0; d < cfg::depth; ++d) {
      float u[cfg::side], w[cfg::side];
#pragma unroll
      for (int a = 0; a < cfg::side; ++a) {
        u[a] = left[d][y * cfg::side + a];
        w[a] = right[d][x + a * cfg::tx];
      }
      patch.outer(u, w);
    }
    __syncthreads();
  }

#pragma unroll
  for (int a = 0; a < cfg::side; ++a) {
    int row = top + y * cfg::side + a;
    if (row >= j) break;
#pragma unroll
    for (int b = 0; b < cfg::side; ++b) {
      int col = edge + x + b * cfg::tx;
      if (col < l) P[size_t(row) * l + col] = patch.v[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l - 1) / cfg::cols + 1, (j - 1) / cfg::rows + 1);
  patches<<<grid, cfg::threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
