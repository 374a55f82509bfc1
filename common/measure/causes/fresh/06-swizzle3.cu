// Lab 06: no padding, a swizzle. A warp loads 4 rows x 8 columns of M at a time.
#include "check.h"

namespace cfg {
constexpr int rows = 64, cols = 64, depth = 16;
constexpr int tm = 4, tn = 4;
constexpr int nthreads = rows / tm * (cols / tn);
constexpr int xthreads = cols / tn;
}  // namespace cfg

__host__ __device__ constexpr int pieces(int n, int size) { return n / size + (n % size > 0); }

// M's tile, transposed: element (row r, step i). Groups of four rows stay together.
class TileM {
  float w[cfg::depth * cfg::rows];

 public:
  __device__ static int place(int r, int i) { return i * cfg::rows + (r ^ (i % 8 * 4)); }
  __device__ float& operator()(int r, int i) { return w[place(r, i)]; }
};

__global__ void swizzled(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ TileM mt;
  __shared__ float nt[cfg::depth][cfg::cols];

  const int t = threadIdx.x;
  const int warp = t >> 5, lane = t & 31;
  const int tx = t % cfg::xthreads, ty = t / cfg::xthreads;
  const int top = blockIdx.y * cfg::rows, left = blockIdx.x * cfg::cols;

  float sum[cfg::tm][cfg::tn] = {};
  const int n_phases = pieces(k, cfg::depth);

  for (int ph = 0; ph < n_phases; ph++) {
    const int k0 = ph * cfg::depth;
    // 16 groups of 4 rows x 2 groups of 8 columns = 32 patches, 4 for each of the 8 warps
    for (int patch = warp; patch < 32; patch += 8) {
      const int r = patch / 2 * 4 + lane / 8;
      const int i = patch % 2 * 8 + lane % 8;
      const int gr = top + r, gc = k0 + i;
      mt(r, i) = gr < j && gc < k ? M[size_t(gr) * k + gc] : 0.0f;
    }
    for (int i = warp / 2; i < cfg::depth; i += 4) {
      const int c = warp % 2 * 32 + lane;
      const int gr = k0 + i, gc = left + c;
      nt[i][c] = gr < k && gc < l ? N[size_t(gr) * l + gc] : 0.0f;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < cfg::depth; i++) {
      float n[cfg::tn];
#pragma unroll
      for (int c = 0; c < cfg::tn; c++) n[c] = nt[i][tx + c * cfg::xthreads];
#pragma unroll
      for (int r = 0; r < cfg::tm; r++) {
        const float m = mt(ty * cfg::tm + r, i);
#pragma unroll
        for (int c = 0; c < cfg::tn; c++) sum[r][c] += m * n[c];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < cfg::tm; r++) {
    const int row = top + ty * cfg::tm + r;
    if (row >= j) break;
#pragma unroll
    for (int c = 0; c < cfg::tn; c++) {
      const int col = left + tx + c * cfg::xthreads;
      if (col < l) P[size_t(row) * l + col] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = pieces(l, cfg::cols);
  grid.y = pieces(j, cfg::rows);
  swizzled<<<grid, cfg::nthreads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
