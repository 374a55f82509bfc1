// Hollis, engine programmer. 128 threads, each owns an 8x4 patch of a 64x64 block.
#include "check.h"

struct Patch {
  static constexpr int Rows = 8;
  static constexpr int Cols = 4;
};
struct Block {
  static constexpr int Rows = 64;
  static constexpr int Cols = 64;
  static constexpr int Depth = 8;
  static constexpr int LanesX = Cols / Patch::Cols;
  static constexpr int LanesY = Rows / Patch::Rows;
  static constexpr int Threads = LanesX * LanesY;
};

struct Dims {
  int rows, depth, cols;
};

__global__ void patchKernel(const float* __restrict__ srcA, const float* __restrict__ srcB,
                            float* __restrict__ dst, Dims d) {
  __shared__ float tileA[Block::Depth][Block::Rows];
  __shared__ float tileB[Block::Depth][Block::Cols];

  const int id = threadIdx.x;
  const int lx = id % Block::LanesX;
  const int ly = id / Block::LanesX;
  const int baseRow = blockIdx.y * Block::Rows;
  const int baseCol = blockIdx.x * Block::Cols;

  float acc[Patch::Rows][Patch::Cols];
#pragma unroll
  for (auto& line : acc)
#pragma unroll
    for (auto& cell : line) cell = 0.0f;

  auto fill = [&](int depth0) {
    for (int slot = id; slot < Block::Rows * Block::Depth; slot += Block::Threads) {
      const int z = slot % Block::Depth, r = slot / Block::Depth;
      const bool ok = baseRow + r < d.rows && depth0 + z < d.depth;
      tileA[z][r] = ok ? srcA[(size_t)(baseRow + r) * d.depth + (depth0 + z)] : 0.0f;
    }
    for (int slot = id; slot < Block::Depth * Block::Cols; slot += Block::Threads) {
      const int c = slot % Block::Cols, z = slot / Block::Cols;
      const bool ok = depth0 + z < d.depth && baseCol + c < d.cols;
      tileB[z][c] = ok ? srcB[(size_t)(depth0 + z) * d.cols + (baseCol + c)] : 0.0f;
    }
  };

  for (int depth0 = 0; depth0 < d.depth; depth0 += Block::Depth) {
    fill(depth0);
    __syncthreads();
    for (int z = 0; z < Block::Depth; ++z) {
      float a[Patch::Rows], b[Patch::Cols];
#pragma unroll
      for (int r = 0; r < Patch::Rows; ++r) a[r] = tileA[z][ly * Patch::Rows + r];
#pragma unroll
      for (int c = 0; c < Patch::Cols; ++c) b[c] = tileB[z][lx + c * Block::LanesX];
#pragma unroll
      for (int r = 0; r < Patch::Rows; ++r)
#pragma unroll
        for (int c = 0; c < Patch::Cols; ++c) acc[r][c] = fmaf(a[r], b[c], acc[r][c]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < Patch::Rows; ++r) {
    const int row = baseRow + ly * Patch::Rows + r;
    if (row >= d.rows) break;
#pragma unroll
    for (int c = 0; c < Patch::Cols; ++c) {
      const int col = baseCol + lx + c * Block::LanesX;
      if (col < d.cols) dst[(size_t)row * d.cols + col] = acc[r][c];
    }
  }
}

static unsigned groups(int n, int per) { return n / per + (n % per ? 1 : 0); }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Dims d{j, k, l};
  const dim3 grid(groups(d.cols, Block::Cols), groups(d.rows, Block::Rows));
  patchKernel<<<grid, Block::Threads>>>(M, N, P, d);
  CHECK(cudaGetLastError());
}
