// Lab 08, asynchronous copies: the tiles of the next phase travel to shared memory while this one's
// are used. Two stages of tiles, filled in turn, one barrier per phase. The handout is README.md.
//
//   make grade LAB=08                                     grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it
//
// M is j x k, N is k x l, P is j x l, all row-major.

#include "check.h"
#include "copy_async.h"

constexpr int BM = 64;  // rows of P that a block computes
constexpr int BN = 64;  // columns of P that a block computes
constexpr int BK = 16;  // columns of M and rows of N in a phase
constexpr int TM = 4;   // rows of P that a thread computes, BM / TM apart
constexpr int TN = 4;   // columns of P that a thread computes, next to each other: one float4
constexpr int THREADS = (BM / TM) * (BN / TN);  // of a block: 256, 8 warps of two rows of 16

// How many pieces of size `piece` cover `whole`, the last of which may hang over.
__host__ __device__ int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// The four floats from `first` on, as one: its address must be a multiple of 16.
__device__ float4& float4_at(float* first) {
  return *reinterpret_cast<float4*>(first);
}

// Starts copying A[row][col..col + 3] of a rows x cols matrix to shared memory, 0 outside of it.
__device__ void copy4(float* to, const float* A, int rows, int cols, int row, int col) {
  const float* from = A + size_t(row) * cols + col;
  // TODO(1): one copy of 16 bytes where all rows of A are aligned, else four of 4. (about 9 lines)
  if (cols % 4 == 0) {
    bool inside = row < rows && col < cols;
    copy_async<16>(to, inside ? from : A, inside);  // outside, A is not read but a good address
  } else {
    for (int c = 0; c < 4; ++c) {
      bool inside = row < rows && col + c < cols;
      copy_async<4>(to + c, inside ? from + c : A, inside);
    }
  }
  // END TODO(1)
}

// Stores values[0..3] to A[row][col..col + 3], as far as they lie inside. col: a multiple of 4.
__device__ void store4(float* A, int rows, int cols, int row, int col, float* values) {
  float* to = A + size_t(row) * cols + col;
  if (row >= rows) return;
  if (cols % 4 == 0) {
    if (col < cols) float4_at(to) = float4_at(values);
  } else {
    for (int c = 0; c < 4; ++c) {
      if (col + c < cols) to[c] = values[c];
    }
  }
}

// P = M x N. Block (BN / TN, BM / TM); grid: x covers the columns of P, y covers its rows.
__global__ void async_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  // 8192 bytes each: two stages of a tile, one on its way while the other is in use.
  __shared__ alignas(16) float Mds[2][BM][BK];  // [stage][r][i]: a float4 is 4 steps
  __shared__ alignas(16) float Nds[2][BK][BN];  // [stage][i][c]: a float4 is 4 columns

  int tx = threadIdx.x;              // 0..BN/TN-1: its columns are tx * TN, tx * TN + 1, ...
  int ty = threadIdx.y;              // 0..BM/TM-1: its rows are ty, ty + BM/TM, ...
  int thread = ty * (BN / TN) + tx;  // 0..THREADS-1
  int first_row = blockIdx.y * BM;   // of the block's part of P, 0..j-1
  int first_col = blockIdx.x * BN;   // of the block's part of P, 0..l-1

  auto start_copies = [&](int ph) {                            // of phase ph, to stage ph % 2
    for (int e = 4 * thread; e < BM * BK; e += 4 * THREADS) {  // first of 4 elements of Mds
      int r = e / BK, i = e % BK;
      copy4(&Mds[ph % 2][r][i], M, j, k, first_row + r, ph * BK + i);
    }
    for (int e = 4 * thread; e < BK * BN; e += 4 * THREADS) {  // first of 4 elements of Nds
      int i = e / BN, c = e % BN;
      copy4(&Nds[ph % 2][i][c], N, k, l, ph * BK + i, first_col + c);
    }
    __pipeline_commit();
  };

  alignas(16) float sum[TM][TN] = {};  // in registers, like m and n below
  // TODO(2): start the copies of the first phase. (about 1 line)
  start_copies(0);
  // END TODO(2)
  for (int ph = 0; ph < ceil_div(k, BK); ++ph) {
    // TODO(3): wait for phase ph, let the block meet, start the next phase. (about 3 lines)
    __pipeline_wait_prior(1);  // what this thread has copied is there
    __syncthreads();           // what all have copied is there, and the other stage is used up
    if (ph + 1 < ceil_div(k, BK)) start_copies(ph + 1);
    // END TODO(3)

    for (int i = 0; i < BK; i += 4) {        // four steps at a time
      alignas(16) float m[TM][4], n[4][TN];  // m[r][s] and n[s][c]: step i + s
      for (int r = 0; r < TM; ++r) float4_at(m[r]) = float4_at(&Mds[ph % 2][ty + r * (BM / TM)][i]);
      for (int s = 0; s < 4; ++s) float4_at(n[s]) = float4_at(&Nds[ph % 2][i + s][tx * TN]);
      for (int s = 0; s < 4; ++s) {
        for (int r = 0; r < TM; ++r) {
          for (int c = 0; c < TN; ++c) sum[r][c] += m[r][s] * n[s][c];
        }
      }
    }
  }

  for (int r = 0; r < TM; ++r) {
    store4(P, j, l, first_row + ty + r * (BM / TM), first_col + tx * TN, sum[r]);
  }
}

// P = M x N. M, N, P: device pointers to j * k, k * l and j * l floats.
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 block(BN / TN, BM / TM);
  dim3 grid(ceil_div(l, BN), ceil_div(j, BM));
  async_kernel<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
