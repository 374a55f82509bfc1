// Lab 05: register tiling with 8 x 4 results of a thread, tile of M kept as it lies in memory.
#include "check.h"

struct Config {
  static constexpr int blockRows = 64, blockCols = 64, depth = 16;
  static constexpr int perThreadRows = 8, perThreadCols = 4;
  static constexpr int threadsX = blockCols / perThreadCols;  // 16
  static constexpr int threadsY = blockRows / perThreadRows;  // 8
  static constexpr int threads = threadsX * threadsY;
};

struct Origin {
  int row, col;
};

// Copies a window of `source` to `dest`, with zeros for what is not there.
template <int Rows, int Cols, int Pitch>
__device__ void copyWindow(float (&dest)[Rows][Pitch], const float* source, int rows, int cols,
                           Origin from, int me) {
  static_assert(Pitch >= Cols, "pitch too small");
  constexpr int step = Config::threads / Cols;  // rows of the window at a time
  const int c = me % Cols;
  const bool columnExists = from.col + c < cols;
  for (int r = me / Cols; r < Rows; r += step) {
    const bool exists = columnExists && from.row + r < rows;
    dest[r][c] = exists ? source[size_t(from.row + r) * cols + from.col + c] : 0.0f;
  }
}

__global__ void patchKernel(const float* M, const float* N, float* P, int j, int k, int l) {
  using C = Config;
  __shared__ float tileM[C::blockRows][C::depth + 1];
  __shared__ float tileN[C::depth][C::blockCols];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int me = ty * C::threadsX + tx;
  const Origin block{int(blockIdx.y) * C::blockRows, int(blockIdx.x) * C::blockCols};

  float patch[C::perThreadRows][C::perThreadCols];
  for (auto& line : patch)
    for (auto& element : line) element = 0.0f;

  for (int start = 0; start < k; start += C::depth) {
    copyWindow<C::blockRows, C::depth>(tileM, M, j, k, Origin{block.row, start}, me);
    copyWindow<C::depth, C::blockCols>(tileN, N, k, l, Origin{start, block.col}, me);
    __syncthreads();
    for (int i = 0; i < C::depth; ++i) {
      float n[C::perThreadCols];
      for (int c = 0; c < C::perThreadCols; ++c) n[c] = tileN[i][tx + c * C::threadsX];
      for (int r = 0; r < C::perThreadRows; ++r) {
        const float m = tileM[ty + r * C::threadsY][i];
        for (int c = 0; c < C::perThreadCols; ++c) patch[r][c] += m * n[c];
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < C::perThreadRows; ++r) {
    const int row = block.row + ty + r * C::threadsY;
    for (int c = 0; c < C::perThreadCols; ++c) {
      const int col = block.col + tx + c * C::threadsX;
      if (row < j && col < l) P[size_t(row) * l + col] = patch[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto pieces = [](int whole, int piece) { return (whole + piece - 1) / piece; };
  const dim3 block(Config::threadsX, Config::threadsY);
  const dim3 grid(pieces(l, Config::blockCols), pieces(j, Config::blockRows));
  patchKernel<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
