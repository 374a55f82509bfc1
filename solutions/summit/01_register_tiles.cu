// Rung 01, register tiles: what labs 05 and 06 end with, at the sizes that suit a large GPU.
//
// A block of 256 threads computes 128 x 128 results, a thread 8 x 8 of them in registers. Per step
// of k a thread reads 16 words of shared memory for 64 FFMAs; loads, barriers and arithmetic take
// turns, so that each waits for the other. This is the ladder's floor.
#include "common/summit.h"

namespace summit {
namespace {

constexpr int BM = 128;  // rows of P that a block computes
constexpr int BN = 128;  // columns of P that a block computes
constexpr int BK = 8;    // columns of M and rows of N in a phase
constexpr int TM = 8, TN = 8;
constexpr int THREADS = (BM / TM) * (BN / TN);  // 256

// Grid: x covers the columns of P, y its rows.
__global__ void __launch_bounds__(THREADS)
    register_tiles(const float* __restrict__ M, const float* __restrict__ N, float* __restrict__ P,
                   int j, int k, int l) {
  // 4 KiB each. Mds is transposed, [i][r], so that a thread's rows lie side by side; the 4 words
  // of padding keep the transposing stores of a warp to two lanes a bank.
  __shared__ __align__(16) float Mds[BK][BM + 4];
  __shared__ __align__(16) float Nds[BK][BN];

  int thread = threadIdx.x;         // 0..255
  int tx = thread % (BN / TN);      // 0..15: columns tx * 4 and 64 + tx * 4, four each
  int ty = thread / (BN / TN);      // 0..15: rows ty * 8, ..., ty * 8 + 7
  int first_row = blockIdx.y * BM;  // of the block's part of P
  int first_col = blockIdx.x * BN;

  float sum[TM][TN] = {};
  for (int ph = 0; ph < k; ph += BK) {
    for (int e = thread; e < BM * BK; e += THREADS) {  // 4 elements of M a thread
      int r = e / BK, i = e % BK;
      int row = first_row + r, col = ph + i;
      Mds[i][r] = row < j && col < k ? M[size_t(row) * k + col] : 0.0f;
    }
    for (int e = thread; e < BK * BN; e += THREADS) {  // 4 elements of N a thread
      int i = e / BN, c = e % BN;
      int row = ph + i, col = first_col + c;
      Nds[i][c] = row < k && col < l ? N[size_t(row) * l + col] : 0.0f;
    }
    __syncthreads();  // the tiles are complete

#pragma unroll
    for (int i = 0; i < BK; ++i) {
      float m[TM], n[TN];
#pragma unroll
      for (int r = 0; r < TM; ++r) m[r] = Mds[i][ty * TM + r];
#pragma unroll
      for (int c = 0; c < TN; ++c) n[c] = Nds[i][c / 4 * 64 + tx * 4 + c % 4];
#pragma unroll
      for (int r = 0; r < TM; ++r)
#pragma unroll
        for (int c = 0; c < TN; ++c) sum[r][c] = fmaf(m[r], n[c], sum[r][c]);
    }
    __syncthreads();  // the tiles have been read and may be overwritten
  }

#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; ++c) {
      int row = first_row + ty * TM + r, col = first_col + c / 4 * 64 + tx * 4 + c % 4;
      if (row < j && col < l) P[size_t(row) * l + col] = sum[r][c];
    }
}

}  // namespace

void launch_01(const Problem& p, cudaStream_t stream) {
  dim3 grid(ceil_div(p.l, BN), ceil_div(p.j, BM));
  register_tiles<<<grid, THREADS, 0, stream>>>(p.M, p.N, p.P, p.j, p.k, p.l);
  check(cudaGetLastError(), "launch of rung 01");
}

}  // namespace summit
