// Lab 05, register tiling: a thread computes TM x TN elements of P, kept in registers, and uses
// every value it reads from shared memory TM or TN times. The handout is README.md.
//
//   make grade LAB=05                                     grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it
//
// M is j x k, N is k x l, P is j x l, all row-major.

#include "check.h"

constexpr int BM = 64;  // rows of P that a block computes
constexpr int BN = 64;  // columns of P that a block computes
constexpr int BK = 16;  // columns of M and rows of N in a phase
constexpr int TM = 4;   // rows of P that a thread computes, next to each other
constexpr int TN = 4;   // columns of P that a thread computes, BN / TN apart
constexpr int THREADS = (BM / TM) * (BN / TN);  // of a block: 256, 8 warps of two rows of 16

// How many pieces of size `piece` cover `whole`, the last of which may hang over.
__host__ __device__ int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// P = M x N. Block (BN / TN, BM / TM); grid: x covers the columns of P, y covers its rows.
__global__ void register_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  // 4096 bytes each. A row is 64 words: twice round the 32 banks.
  __shared__ float Mds[BK][BM];  // [i][r], transposed: the rows of a thread lie side by side
  __shared__ float Nds[BK][BN];  // [i][c]: 16 lanes read 16 neighbouring banks

  int tx = threadIdx.x;              // 0..BN/TN-1: its columns are tx, tx + BN/TN, ...
  int ty = threadIdx.y;              // 0..BM/TM-1: its rows are ty * TM, ty * TM + 1, ...
  int thread = ty * (BN / TN) + tx;  // 0..THREADS-1
  int first_row = blockIdx.y * BM;   // of the block's part of P, 0..j-1
  int first_col = blockIdx.x * BN;   // of the block's part of P, 0..l-1

  float sum[TM][TN] = {};  // in registers, because every index is known when the loops are unrolled
  for (int ph = 0; ph < ceil_div(k, BK); ++ph) {
    // TODO(1): together, load the BM x BK tile of M. Thread t takes elements t, t + THREADS, ... in
    // row-major order. Element (r, i) goes into Mds[i][r], 0 if it is outside M. (about 6 lines)
    for (int e = thread; e < BM * BK; e += THREADS) {  // element of the tile, row-major
      int r = e / BK;                                  // row of the tile, 0..BM-1
      int i = e % BK;                                  // column of the tile: lanes side by side
      int row = first_row + r, col = ph * BK + i;      // in M
      Mds[i][r] = row < j && col < k ? M[size_t(row) * k + col] : 0.0f;
    }
    // END TODO(1)

    // TODO(2): the same for the BK x BN tile of N; (i, c) goes into Nds[i][c]. (about 6 lines)
    for (int e = thread; e < BK * BN; e += THREADS) {  // element of the tile, row-major
      int i = e / BN;                                  // row of the tile, 0..BK-1
      int c = e % BN;                                  // column of the tile: lanes side by side
      int row = ph * BK + i, col = first_col + c;      // in N
      Nds[i][c] = row < k && col < l ? N[size_t(row) * l + col] : 0.0f;
    }
    // END TODO(2)
    __syncthreads();  // separates loading the tiles from using them

    for (int i = 0; i < BK; ++i) {  // column of the tile of M, row of the tile of N
      // TODO(3): read TM values of Mds and TN of Nds, add the TM * TN products. (about 6 lines)
      float m[TM], n[TN];
      for (int r = 0; r < TM; ++r) m[r] = Mds[i][ty * TM + r];
      for (int c = 0; c < TN; ++c) n[c] = Nds[i][tx + c * (BN / TN)];
      for (int r = 0; r < TM; ++r) {
        for (int c = 0; c < TN; ++c) sum[r][c] += m[r] * n[c];
      }
      // END TODO(3)
    }
    __syncthreads();  // separates using the tiles from overwriting them in the next phase
  }

  // TODO(4): store the elements of sum that lie inside P. (about 6 lines)
  for (int r = 0; r < TM; ++r) {
    for (int c = 0; c < TN; ++c) {
      int row = first_row + ty * TM + r, col = first_col + tx * TN + c;  // in P
      if (row < j && col < l) P[size_t(row) * l + col] = sum[r][c];
    }
  }
  // END TODO(4)
}

// P = M x N. M, N, P: device pointers to j * k, k * l and j * l floats.
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 block(BN / TN, BM / TM);
  dim3 grid(ceil_div(l, BN), ceil_div(j, BM));
  register_kernel<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
