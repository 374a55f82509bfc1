// Lab 06: I leave the tile of M upright (not transposed), then its store is 32 words in a row,
// and give each thread rows 16 apart, so that the two rows of a warp lie in different banks.
#include "check.h"

template <int H, int W>
struct SharedTile {
  float w[H][W];

  // cooperative fill with zeros outside of the rows x cols matrix
  __device__ void fill(const float* from, int rows, int cols, int r0, int c0, int who, int many) {
    for (int at = who; at < H * W; at += many) {
      const int r = r0 + at / W;
      const int c = c0 + at % W;
      const bool exists = r < rows && c < cols;
      w[at / W][at % W] = exists ? from[size_t(r) * cols + c] : 0.0f;
    }
  }
};

constexpr int H = 64;   // rows of a block
constexpr int W = 64;   // columns of a block
constexpr int D = 16;   // depth of a phase
constexpr int S = 16;   // threads along a side
constexpr int Q = 4;    // results of a thread along a side

__global__ __launch_bounds__(S* S) void upright(const float* M, const float* N, float* P, int j,
                                                int k, int l) {
  __shared__ SharedTile<H, D> tm;
  __shared__ SharedTile<D, W> tn;
  const int x = threadIdx.x, y = threadIdx.y;
  const int me = x + y * S;
  const int r0 = blockIdx.y * H;
  const int c0 = blockIdx.x * W;

  float s[Q][Q] = {{0.0f}};
  const int phases = k / D + (k % D > 0);
  for (int f = 0; f < phases; ++f) {
    tm.fill(M, j, k, r0, f * D, me, S * S);
    tn.fill(N, k, l, f * D, c0, me, S * S);
    __syncthreads();
    for (int d = 0; d < D; ++d) {
      float n[Q];
      for (int b = 0; b < Q; ++b) n[b] = tn.w[d][x + S * b];
      for (int a = 0; a < Q; ++a) {
        const float m = tm.w[y + S * a][d];
        for (int b = 0; b < Q; ++b) s[a][b] += m * n[b];
      }
    }
    __syncthreads();
  }

  for (int a = 0; a < Q; ++a) {
    for (int b = 0; b < Q; ++b) {
      const int r = r0 + y + S * a;
      const int c = c0 + x + S * b;
      if (r < j && c < l) P[size_t(r) * l + c] = s[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const unsigned gx = (l + W - 1) / W, gy = (j + H - 1) / H;
  upright<<<{gx, gy}, {S, S}>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
