// Petra V., lab 06: I don't transpose at all. Rows of a thread are 16 apart.
#include "check.h"

constexpr int kBlockRows = 64, kBlockCols = 64, kDepth = 16, kPer = 4;
constexpr int kLanes = 16;

template <int Rows, int Cols>
struct SharedTile {
  float word[Rows * Cols];
  __device__ float& operator()(int r, int c) { return word[r * Cols + c]; }

  template <class Source>
  __device__ void fill(int thread, int threads, Source source) {
    for (int e = thread; e < Rows * Cols; e += threads) word[e] = source(e / Cols, e % Cols);
  }
};

struct View {
  const float* p;
  int rows, cols;
  __device__ float operator()(int r, int c) const {
    return r < rows && c < cols ? p[size_t(r) * cols + c] : 0.0f;
  }
};

__global__ void plain_tiles(View m, View n, float* P) {
  __shared__ SharedTile<kBlockRows, kDepth> mt;
  __shared__ SharedTile<kDepth, kBlockCols> nt;

  const int thread = threadIdx.x;
  const int x = thread % kLanes, y = thread / kLanes;
  const int top = blockIdx.y * kBlockRows, left = blockIdx.x * kBlockCols;

  float acc[kPer * kPer];
  for (int q = 0; q < kPer * kPer; ++q) acc[q] = 0.0f;

  for (int depth = 0; depth < m.cols; depth += kDepth) {
    mt.fill(thread, blockDim.x, [&](int r, int c) { return m(top + r, depth + c); });
    nt.fill(thread, blockDim.x, [&](int r, int c) { return n(depth + r, left + c); });
    __syncthreads();

#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float row[kPer];
#pragma unroll
      for (int c = 0; c < kPer; ++c) row[c] = nt(i, x + kLanes * c);
#pragma unroll
      for (int r = 0; r < kPer; ++r) {
        const float f = mt(y + kLanes * r, i);
#pragma unroll
        for (int c = 0; c < kPer; ++c) acc[r * kPer + c] += f * row[c];
      }
    }
    __syncthreads();
  }

  for (int q = 0; q < kPer * kPer; ++q) {
    const int r = top + y + kLanes * (q / kPer);
    const int c = left + x + kLanes * (q % kPer);
    if (r < m.rows && c < n.cols) P[size_t(r) * n.cols + c] = acc[q];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const View m{M, j, k}, n{N, k, l};
  dim3 grid;
  for (int covered = kBlockCols; covered < l; covered += kBlockCols) ++grid.x;
  for (int covered = kBlockRows; covered < j; covered += kBlockRows) ++grid.y;
  plain_tiles<<<grid, kLanes * kLanes>>>(m, n, P);
  CHECK(cudaGetLastError());
}
