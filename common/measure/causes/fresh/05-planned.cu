// sizes in a struct that solve fills in, passed to the kernel by value
#include "check.h"

template <int ROWS, int COLS, int DEPTH>
struct Tile {
  static constexpr int rows = ROWS, cols = COLS, depth = DEPTH;
};

struct Sizes {
  int j, k, l;
};

template <typename S, int R>
__global__ void several(const float* __restrict__ M, const float* __restrict__ N, float* __restrict__ P, Sizes of) {
  __shared__ float left[S::rows][S::depth];
  __shared__ float right[S::depth][S::cols];
  constexpr int high = S::rows / R;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int top = blockIdx.y * S::rows, side = blockIdx.x * S::cols;
  float sum[R] = {};
  for (int o = 0; o < of.k; o += S::depth) {
    for (int e = ty * S::cols + tx; e < S::rows * S::depth; e += S::cols * high) {
      const int r = e / S::depth, i = e % S::depth;
      left[r][i] = top + r < of.j && o + i < of.k ? M[size_t(top + r) * of.k + o + i] : 0.0f;
    }
    for (int e = ty * S::cols + tx; e < S::depth * S::cols; e += S::cols * high) {
      const int i = e / S::cols, c = e % S::cols;
      right[i][c] = o + i < of.k && side + c < of.l ? N[size_t(o + i) * of.l + side + c] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < S::depth; ++i) {
      const float n = right[i][tx];
      for (int r = 0; r < R; ++r) sum[r] += left[ty + r * high][i] * n;
    }
    __syncthreads();
  }
  for (int r = 0; r < R; ++r) {
    const int y = top + ty + r * high, x = side + tx;
    if (y < of.j && x < of.l) P[size_t(y) * of.l + x] = sum[r];
  }
}

template <typename S, int R>
static void start(const float* M, const float* N, float* P, const Sizes& of) {
  auto pieces = [](int all, int one) { return (all + one - 1) / one; };
  const dim3 grid(pieces(of.l, S::cols), pieces(of.j, S::rows));
  const dim3 block(S::cols, S::rows / R);
  several<S, R><<<grid, block>>>(M, N, P, of);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Sizes of;
  of.j = j;
  of.k = k;
  of.l = l;
  start<Tile<64, 64, 16>, 8>(M, N, P, of);
}
