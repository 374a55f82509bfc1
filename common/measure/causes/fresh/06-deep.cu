// Bank conflicts (Nguyễn). The tile of M is not transposed at all, and a phase is 32 deep: a warp
// loads a whole row of it, and one word of padding keeps the rows of two ty apart.
#include <cuda_runtime.h>
#include <type_traits>

#include "check.h"

template <int Rows, int Cols, int Pad = 0>
struct SharedTile {
  float cell[Rows][Cols + Pad];

  __device__ void load(const float* from, int rows, int cols, int row0, int col0, int tid) {
    constexpr int perRow = Cols, threads = 256;
    static_assert(threads % perRow == 0, "whole rows at a time");
    const int c = tid % perRow;
    const bool colInside = col0 + c < cols;
    for (int r = tid / perRow; r < Rows; r += threads / perRow) {
      const bool inside = colInside && row0 + r < rows;
      cell[r][c] = inside ? from[static_cast<size_t>(row0 + r) * cols + (col0 + c)] : 0.0f;
    }
  }
};

constexpr int kSide = 64;
constexpr int kDepth = 32;
constexpr int kLane = 16;              // threads along x and y
constexpr int kEach = kSide / kLane;   // results along x and y

__global__ __launch_bounds__(256) void multiply(const float* M, const float* N, float* P,
                                                int j, int k, int l) {
  __shared__ SharedTile<kSide, kDepth, 1> tileM;
  __shared__ SharedTile<kDepth, kSide> tileN;

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tid = ty * blockDim.x + tx;
  const int row0 = blockIdx.y * kSide;
  const int col0 = blockIdx.x * kSide;

  float acc[kEach][kEach] = {};
  const int phases = (k + kDepth - 1) / kDepth;
  for (int phase = 0; phase != phases; ++phase) {
    if (phase > 0) __syncthreads();  // everybody has used the tiles
    tileM.load(M, j, k, row0, phase * kDepth, tid);
    tileN.load(N, k, l, phase * kDepth, col0, tid);
    __syncthreads();

#pragma unroll 4
    for (int i = 0; i < kDepth; ++i) {
      float right[kEach];
      for (int c = 0; c < kEach; ++c) right[c] = tileN.cell[i][tx + kLane * c];
      for (int r = 0; r < kEach; ++r) {
        const float left = tileM.cell[ty + kLane * r][i];
        for (int c = 0; c < kEach; ++c) acc[r][c] = fmaf(left, right[c], acc[r][c]);
      }
    }
  }

  for (int r = 0; r < kEach; ++r) {
    const int row = row0 + ty + kLane * r;
    for (int c = 0; c < kEach; ++c) {
      const int col = col0 + tx + kLane * c;
      if (row < j && col < l) P[static_cast<size_t>(row) * l + col] = acc[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto cover = [](int size) { return (size + kSide - 1) / kSide; };
  multiply<<<dim3(cover(l), cover(j)), dim3(kLane, kLane)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
