// Lab 06: a padded tile type, lambdas for loading, one flat index.
#include "check.h"

namespace {
constexpr int BM = 64, BN = 64, BK = 16;
constexpr int TM = 4, TN = 4;
constexpr int WIDE = BN / TN;
constexpr int THREADS = WIDE * (BM / TM);

template <int Rows, int Cols, int Pad>
struct Padded {
  float cell[Rows * (Cols + Pad)];
  __device__ float& operator()(int r, int c) { return cell[r * (Cols + Pad) + c]; }
};
}  // namespace

__global__ void __launch_bounds__(THREADS)
padded_product(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Padded<BK, BM, 2> left;
  __shared__ Padded<BK, BN, 0> right;

  const int t = threadIdx.x;
  const int tx = t % WIDE, ty = t / WIDE;
  const int top = blockIdx.y * BM, leftmost = blockIdx.x * BN;

  auto load_left = [&](int k0) {
    const int i = t % BK;
    for (int r = t / BK; r < BM; r += THREADS / BK) {
      const bool inside = top + r < j && k0 + i < k;
      left(i, r) = inside ? M[size_t(top + r) * k + (k0 + i)] : 0.0f;
    }
  };
  auto load_right = [&](int k0) {
    const int c = t % BN;
    for (int i = t / BN; i < BK; i += THREADS / BN) {
      const bool inside = k0 + i < k && leftmost + c < l;
      right(i, c) = inside ? N[size_t(k0 + i) * l + (leftmost + c)] : 0.0f;
    }
  };

  float sum[TM][TN] = {};
  int k0 = 0;
  do {
    load_left(k0);
    load_right(k0);
    __syncthreads();
    for (int i = 0; i < BK; ++i) {
      float n[TN];
      for (int c = 0; c < TN; ++c) n[c] = right(i, tx + c * WIDE);
      for (int r = 0; r < TM; ++r) {
        float m = left(i, ty * TM + r);
        for (int c = 0; c < TN; ++c) sum[r][c] += m * n[c];
      }
    }
    __syncthreads();
    k0 += BK;
  } while (k0 < k);

  const int rows_left = min(TM, j - top - ty * TM);
  for (int r = 0; r < TM; ++r) {
    if (r >= rows_left) continue;
    float* line = P + size_t(top + ty * TM + r) * l;
    for (int c = 0; c < TN; ++c) {
      const int col = leftmost + tx + c * WIDE;
      if (col < l) line[col] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto blocks = [](int n, int per) { return (n + per - 1) / per; };
  padded_product<<<dim3(blocks(l, BN), blocks(j, BM)), THREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
