// Lab 06: nobody forces me to transpose. Rows of a thread are 16 apart, M's tile lies as in memory.
#include "check.h"

template <int H, int W_, int PAD>
struct SharedTile {
  static constexpr int height = H, width = W_, pitch = W_ + PAD;
  float cell[H][pitch];

  // All threads of the block, element after element; zeros beyond the edges.
  template <int THREADS>
  __device__ void fill(const float* src, int nr, int nc, int r0, int c0, int self) {
    static_assert(THREADS % W_ == 0, "a thread keeps its column");
    constexpr int down = THREADS / W_;
    const int c = self % W_;
    const bool col_ok = c0 + c < nc;
    for (int r = self / W_; r < H; r += down) {
      float v = 0.0f;
      if (col_ok && r0 + r < nr) v = src[size_t(r0 + r) * nc + c0 + c];
      cell[r][c] = v;
    }
  }
};

constexpr int SIDE = 64, DEPTH = 16, PER = 4, LINE = SIDE / PER, CREW = LINE * LINE;

struct Patch {
  float v[PER][PER];

  __device__ void clear() {
    for (auto& line : v) {
      for (float& x : line) x = 0.0f;
    }
  }
  __device__ void outer(const float (&a)[PER], const float (&b)[PER]) {
#pragma unroll
    for (int y = 0; y < PER; ++y) {
#pragma unroll
      for (int x = 0; x < PER; ++x) v[y][x] = fmaf(a[y], b[x], v[y][x]);
    }
  }
};

__global__ void upright(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ SharedTile<SIDE, DEPTH, 0> a_tile;
  __shared__ SharedTile<DEPTH, SIDE, 0> b_tile;

  const int self = threadIdx.x;
  const int x = self % LINE, y = self / LINE;
  const int r0 = blockIdx.y * SIDE, c0 = blockIdx.x * SIDE;

  Patch patch;
  patch.clear();
  for (int start = 0; start < k; start += DEPTH) {
    a_tile.fill<CREW>(M, j, k, r0, start, self);
    b_tile.fill<CREW>(N, k, l, start, c0, self);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < DEPTH; ++i) {
      float a[PER], b[PER];
#pragma unroll
      for (int q = 0; q < PER; ++q) {
        a[q] = a_tile.cell[y + q * LINE][i];
        b[q] = b_tile.cell[i][x + q * LINE];
      }
      patch.outer(a, b);
    }
    __syncthreads();
  }

#pragma unroll
  for (int q = 0; q < PER * PER; ++q) {
    const int row = r0 + y + q / PER * LINE;
    const int col = c0 + x + q % PER * LINE;
    if (row < j && col < l) P[size_t(row) * l + col] = patch.v[q / PER][q % PER];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto up = [](int n) { return unsigned((n + SIDE - 1) / SIDE); };
  upright<<<dim3(up(l), up(j), 1), dim3(CREW, 1, 1)>>>(M, N, P, j, k, l);
  CHECK(cudaPeekAtLastError());
}
