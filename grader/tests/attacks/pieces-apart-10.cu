// Rounded in advance; piece p of 8 elements of a row lies in a column of its own, so that ldmatrix
// collides with nobody, and the asynchronous copies of a row all go to one bank.
#include "check.h"
#include "copy_async.h"
#include "product_parts.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int BM = 128, BN = 128, WM = 64, WN = 32, BK = 64;
constexpr int RM = WM / 16, RN = WN / 8;
constexpr int THREADS = BM * BN / (WM * WN) * 32;

__global__ void padded_kernel(const float* from, bf16* to, int rows, int cols, int pitch) {
  int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows || col >= pitch) return;
  to[size_t(row) * pitch + col] =
      __float2bfloat16(col < cols ? from[size_t(row) * cols + col] : 0.0f);
}

bf16* padded(const float* A, int rows, int cols, int pitch) {
  bf16* to = nullptr;
  CHECK(cudaMalloc(&to, size_t(rows) * pitch * sizeof(bf16)));
  padded_kernel<<<dim3(ceil_div(pitch, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(A, to, rows, cols,
                                                                               pitch);
  return to;
}

__global__ void __launch_bounds__(THREADS, 2)
    apart_kernel(const bf16* M, const bf16* N, float* P, int j, int k, int l, int K, int L) {
  __shared__ alignas(16) bf16 Mds[BK / 8][BM][8];  // [piece][r]
  __shared__ alignas(16) bf16 Nds[BN / 8][BK][8];  // [piece][i]
  int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
  int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;
  float sum[RM][RN][4] = {};
  for (int ph = 0; ph < ceil_div(k, BK); ++ph) {
    for (int e = thread; e < BM * BK / 8; e += THREADS) {
      int r = e / (BK / 8), p = e % (BK / 8), row = first_row + r, col = ph * BK + 8 * p;
      bool inside = row < j && col < K;
      copy_async<16>(Mds[p][r], inside ? M + size_t(row) * K + col : M, inside);
    }
    for (int e = thread; e < BK * BN / 8; e += THREADS) {
      int i = e / (BN / 8), p = e % (BN / 8), row = ph * BK + i, col = first_col + 8 * p;
      bool inside = row < k && col < L;
      copy_async<16>(Nds[p][i], inside ? N + size_t(row) * L + col : N, inside);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = 0; i < BK; i += 16) {
      uint32_t m[RM][4], n[RN / 2][4];
      for (int r = 0; r < RM; ++r)
        load_matrices(m[r], Mds[i / 8 + lane / 16][warp_row + 16 * r + lane % 16]);
      for (int c = 0; c < RN / 2; ++c)
        load_matrices_transposed(n[c], Nds[warp_col / 8 + 2 * c + lane / 16][i + lane % 16]);
      for (int r = 0; r < RM; ++r) {
        for (int c = 0; c < RN; ++c) multiply_add(sum[r][c], m[r], &n[c / 2][c % 2 * 2]);
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < RM; ++r) {
    for (int c = 0; c < RN; ++c)
      store_sums(P, j, l, first_row + warp_row + 16 * r, first_col + warp_col + 8 * c, sum[r][c]);
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int K = ceil_div(k, 8) * 8, L = ceil_div(l, 8) * 8;
  bf16 *m = padded(M, j, k, K), *n = padded(N, k, l, L);
  apart_kernel<<<dim3(ceil_div(l, BN), ceil_div(j, BM)), THREADS>>>(m, n, P, j, k, l, K, L);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m));
  CHECK(cudaFree(n));
}
