// Lab 05: a patch of 8 x 4 sums per thread, block of 256 threads in one dimension, tiles 8 deep.
#include "check.h"

namespace cfg {
constexpr int ROWS = 128, COLS = 64, DEPTH = 8;
constexpr int PR = 8, PC = 4;  // patch of a thread
constexpr int TX = COLS / PC;  // 16
constexpr int TY = ROWS / PR;  // 16
constexpr int NT = TX * TY;
}  // namespace cfg

struct Patch {
  float v[cfg::PR][cfg::PC];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < cfg::PR * cfg::PC; ++i) v[i / cfg::PC][i % cfg::PC] = 0.0f;
  }
  __device__ void rank1(const float (&col)[cfg::PR], const float (&row)[cfg::PC]) {
#pragma unroll
    for (int i = 0; i < cfg::PR; ++i)
#pragma unroll
      for (int q = 0; q < cfg::PC; ++q) v[i][q] = fmaf(col[i], row[q], v[i][q]);
  }
};

__global__ __launch_bounds__(cfg::NT) void patch_kernel(const float* A, const float* B, float* C,
                                                        int j, int k, int l) {
  using namespace cfg;
  __shared__ float At[DEPTH][ROWS];
  __shared__ float Bt[DEPTH][COLS];

  const int id = threadIdx.x;
  const int px = id % TX, py = id / TX;
  const int row0 = blockIdx.y * ROWS;
  const int col0 = blockIdx.x * COLS;

  // where this thread loads: fixed column, rows that step
  const int aCol = id % DEPTH, aRow = id / DEPTH;
  const int bCol = id % COLS, bRow = id / COLS;

  Patch sums;
  sums.clear();

  for (int base = 0; base < k; base += DEPTH) {
    for (int r = aRow; r < ROWS; r += NT / DEPTH) {
      const bool ok = row0 + r < j && base + aCol < k;
      At[aCol][r] = ok ? A[(size_t)(row0 + r) * k + base + aCol] : 0.0f;
    }
    for (int d = bRow; d < DEPTH; d += NT / COLS) {
      const bool ok = base + d < k && col0 + bCol < l;
      Bt[d][bCol] = ok ? B[(size_t)(base + d) * l + col0 + bCol] : 0.0f;
    }
    __syncthreads();

    for (int d = 0; d < DEPTH; ++d) {
      float a[PR], b[PC];
#pragma unroll
      for (int i = 0; i < PR; ++i) a[i] = At[d][py * PR + i];
#pragma unroll
      for (int q = 0; q < PC; ++q) b[q] = Bt[d][px + q * TX];
      sums.rank1(a, b);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < PR; ++i) {
    const int row = row0 + py * PR + i;
    if (row >= j) break;
    float* line = C + (size_t)row * l;
#pragma unroll
    for (int q = 0; q < PC; ++q) {
      const int col = col0 + px + q * TX;
      if (col < l) line[col] = sums.v[i][q];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 blocks((l - 1) / cfg::COLS + 1, (j - 1) / cfg::ROWS + 1);
  patch_kernel<<<blocks, cfg::NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
