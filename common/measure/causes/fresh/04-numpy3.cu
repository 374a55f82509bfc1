// out = A @ B      A.shape == (n, d), B.shape == (d, m), out.shape == (n, m)
#include "check.h"

constexpr int tile = 16;
constexpr int nthreads = tile * tile;

// like np.ravel_multi_index
__device__ size_t ravel(int row, int col, int ncols) {
  return static_cast<size_t>(row) * ncols + col;
}

// A[row, col] with zeros outside
__device__ float take(const float* A, int row, int col, int nrows, int ncols) {
  float val = 0.f;
  if (row < nrows)
    if (col < ncols) val = A[ravel(row, col, ncols)];
  return val;
}

__global__ void matmul_kernel(const float* A, const float* B, float* out, int n, int d, int m,
                              int tiles_per_row) {
  __shared__ float As[nthreads];
  __shared__ float Bs[nthreads];

  // divmod(blockIdx, tiles_per_row), divmod(threadIdx, tile)
  const int bi = blockIdx.x / tiles_per_row;
  const int bj = blockIdx.x - bi * tiles_per_row;
  const int ti = threadIdx.x / tile;
  const int tj = threadIdx.x - ti * tile;
  const int i = bi * tile + ti;
  const int j = bj * tile + tj;

  float total = 0.f;
  int start = 0;
  do {  // for start in range(0, d, tile)
    As[threadIdx.x] = take(A, i, start + tj, n, d);
    Bs[threadIdx.x] = take(B, start + ti, j, d, m);
    __syncthreads();

    const float* arow = &As[ti * tile];
    const float* bcol = &Bs[tj];
    for (int q = 0; q < tile; q++) total += arow[q] * bcol[q * tile];
    start += tile;
    __syncthreads();
  } while (start < d);

  if (i < n && j < m) out[ravel(i, j, m)] = total;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int n = j, d = k, m = l;
  int tiles_per_row = (m + tile - 1) / tile;
  int tiles_per_col = (n + tile - 1) / tile;
  matmul_kernel<<<tiles_per_row * tiles_per_col, nthreads>>>(M, N, P, n, d, m, tiles_per_row);
  CHECK(cudaGetLastError());
}
