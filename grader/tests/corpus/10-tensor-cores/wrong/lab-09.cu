// Fault: lab 09: right, and no tensor core has any part in it

#include "check.h"
#include "copy_async.h"

constexpr int BM = 128, BN = 128;             // rows and columns of P that a block computes
constexpr int WM = 64, WN = 32;               // ... a warp: 2 x 4 warp tiles make a block's tile
constexpr int TM = 8, TN = 8;                 // ... a thread: 8 x 4 lanes make a warp's tile
constexpr int LM = WM / TM, LN = WN / TN;     // rows and columns of lanes in a warp: 8 x 4
constexpr int BK = 16;                        // columns of M and rows of N in a phase
constexpr int THREADS = BM * BN / (TM * TN);  // of a block: 256, 8 warps

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
  if (cols % 4 == 0) {
    bool inside = row < rows && col < cols;
    copy_async<16>(to, inside ? from : A, inside);  // outside, A is not read but a good address
  } else {
    for (int c = 0; c < 4; ++c) {
      bool inside = row < rows && col + c < cols;
      copy_async<4>(to + c, inside ? from + c : A, inside);
    }
  }
}

// P = M x N. Block THREADS; grid: x covers the columns of P, y covers its rows.
__global__ void __launch_bounds__(THREADS, 2)
    warp_tile_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  // 20480 + 16384 + 12288 bytes. 4 and 16 words of padding keep float4 accesses free of conflicts.
  __shared__ alignas(16) float Mds[2][BM][BK + 4];              // [stage][r][i]
  __shared__ alignas(16) float Nds[2][BK][BN];                  // [stage][i][c]
  __shared__ alignas(16) float out[THREADS / 32][LM][WN + 16];  // [warp][r][c]: rows of P

  int thread = threadIdx.x;                    // 0..THREADS-1
  int warp = thread / 32, lane = thread % 32;  // 0..7, 0..31
  int first_row = blockIdx.y * BM;             // of the block's part of P, 0..j-1
  int first_col = blockIdx.x * BN;             // of the block's part of P, 0..l-1
  int warp_row = warp / (BN / WN) * WM;        // of the warp's part of the block: 0 or 64
  int warp_col = warp % (BN / WN) * WN;        // 0, 32, 64 or 96
  int y = 0, x = 0;                            // of the lane among 8 x 4: 0..7, 0..3
  y = lane / 2 % 2 + lane / 8 * 2;             // bits 4, 3 and 1 of the lane
  x = lane % 2 + lane / 4 % 2 * 2;             // bits 2 and 0

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

  // sum[r][c]: row y + r * LM of the warp tile, column x * 4 + c, from c = 4 on 4 * LN - 4 more.
  alignas(16) float sum[TM][TN] = {};
  start_copies(0);
  for (int ph = 0; ph < ceil_div(k, BK); ++ph) {
    __pipeline_wait_prior(0);  // what this thread has copied is there
    __syncthreads();           // what all have copied is there, and the other stage is used up
    if (ph + 1 < ceil_div(k, BK)) start_copies(ph + 1);

    for (int i = 0; i < BK; i += 4) {  // four steps at a time
      alignas(16) float m[TM][4], n[TN];
      for (int r = 0; r < TM; ++r) {
        float4_at(m[r]) = float4_at(&Mds[ph % 2][warp_row + y + r * LM][i]);
      }
      for (int s = 0; s < 4; ++s) {
        float4_at(&n[0]) = float4_at(&Nds[ph % 2][i + s][warp_col + x * 4]);
        float4_at(&n[4]) = float4_at(&Nds[ph % 2][i + s][warp_col + x * 4 + LN * 4]);
        for (int r = 0; r < TM; ++r) {
          for (int c = 0; c < TN; ++c) sum[r][c] += m[r][s] * n[c];
        }
      }
    }
  }

  for (int r = 0; r < TM; ++r) {  // LM rows of the warp tile: one of each thread
    float4_at(&out[warp][y][x * 4]) = float4_at(&sum[r][0]);
    float4_at(&out[warp][y][x * 4 + LN * 4]) = float4_at(&sum[r][4]);
    __syncwarp();  // separates filling the rows from storing them
    for (int s = 0; s < LM; ++s) {
      int row = first_row + warp_row + r * LM + s, col = first_col + warp_col + lane;
      if (row < j && col < l) P[size_t(row) * l + col] = out[warp][s][lane];
    }
    __syncwarp();  // separates storing the rows from filling them again
  }
}

// P = M x N. M, N, P: device pointers to j * k, k * l and j * l floats.
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid(ceil_div(l, BN), ceil_div(j, BM));
  warp_tile_kernel<<<grid, THREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
