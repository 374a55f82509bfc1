// Lab 06 without padding: the words of a row are permuted with exclusive or.
// A warp loads 4 rows x 8 columns of M, so that the permutation has no conflict at all.
#include "check.h"

constexpr int SZ = 64;     // side of what a block computes
constexpr int KD = 16;     // depth of a phase
constexpr int NT = 256;

// place of element (i, r) in its row
__device__ constexpr int mix(int i, int r) { return r ^ (4 * (i % 8)); }

__global__ void xor_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float sm[KD][SZ];
  __shared__ float sn[KD][SZ];

  const int t = threadIdx.x;
  const int warp = t / 32, lane = t % 32;
  const int tx = t % 16, ty = t / 16;
  const size_t row0 = size_t(blockIdx.y) * SZ, col0 = size_t(blockIdx.x) * SZ;

  float s[4][4];
  for (auto& line : s)
    for (float& v : line) v = 0;

  for (int kk = 0; kk < k; kk += KD) {
    // 16 groups of rows x 2 groups of columns, 8 warps: 4 turns
    for (int g = warp; g < 32; g += NT / 32) {
      const int r = g / 2 * 4 + lane / 8;
      const int i = g % 2 * 8 + lane % 8;
      const size_t row = row0 + r;
      sm[i][mix(i, r)] = (row < j && kk + i < k) ? M[row * k + kk + i] : 0.0f;
    }
    for (int i = t / SZ; i < KD; i += NT / SZ) {
      const size_t col = col0 + t % SZ;
      sn[i][t % SZ] = (kk + i < k && col < l) ? N[size_t(kk + i) * l + col] : 0.0f;
    }
    __syncthreads();

    for (int i = 0; i < KD; ++i) {
      const float* four = &sm[i][mix(i, 4 * ty)];
      for (int c = 0; c < 4; ++c) {
        const float b = sn[i][tx + 16 * c];
        for (int r = 0; r < 4; ++r) s[r][c] += four[r] * b;
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 4; ++r) {
    const size_t row = row0 + 4 * ty + r;
    if (row >= j) break;
    for (int c = 0; c < 4; ++c) {
      const size_t col = col0 + tx + 16 * c;
      if (col < l) P[row * l + col] = s[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto up = [](int n) { return unsigned((n + SZ - 1) / SZ); };
  xor_kernel<<<dim3{up(l), up(j)}, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
