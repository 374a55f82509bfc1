// The tile that rungs 03 to 09 share: a block of eight consumer warps computes 256 x 128 results
// from stages of 32 steps of k, a warp 64 x 64, a thread 8 x 16.
//
// Shared memory of one stage, 48 KiB, as the copy engine writes it with its 128-byte swizzle:
//   Mds [256][32]  row r holds M[row r][32 steps of k] in 128 bytes; its eight 16-byte chunks are
//                  permuted: chunk c lies at place c ^ (r % 8)
//   Nds [32][128]  row i holds N[step i][128 columns] as it is
#pragma once

#include "ptx.cuh"

namespace summit {

// Warps that multiply: 4 x 2, or as the compiler is told: rung 08 is compiled a second time with
// the tile turned, for products that it covers with fewer tiles, and rung 09 with smaller tiles.
// Everything below follows from these.
#ifndef SUMMIT_WARPS_M
#define SUMMIT_WARPS_M 4
#define SUMMIT_WARPS_N 2
#endif
constexpr int WARP_ROWS = SUMMIT_WARPS_M, WARP_COLUMNS = SUMMIT_WARPS_N;
constexpr int BM = WARP_ROWS * 64, BN = WARP_COLUMNS * 64;
constexpr int BK = 32;
constexpr int TM = 8, TN = 16;
constexpr int CONSUMERS = WARP_ROWS * WARP_COLUMNS * 32;  // threads that multiply
// Rung 08 is also compiled for M whose rows do not begin at multiples of 16 bytes
// (SUMMIT_SHIFTED): then a stage has LEAD rows of N before its first step of k.
constexpr int MOST_SHIFT = 3;  // floats
#ifdef SUMMIT_SHIFTED
constexpr int LEAD = MOST_SHIFT;
#else
constexpr int LEAD = 0;
#endif
// The tile of N fills whole kilobytes, since the swizzled tile of M has to begin at one.
constexpr int stage_bytes(int rows, int columns, int lead) {
  return rows * BK * 4 + ((BK + lead) * columns * 4 + 1023) / 1024 * 1024;
}
constexpr int MDS_BYTES = BM * BK * 4;
constexpr int STAGE_BYTES = stage_bytes(BM, BN, LEAD);          // 49152
constexpr int FILLED_BYTES = MDS_BYTES + (BK + LEAD) * BN * 4;  // of a stage, by the copy engine
constexpr int MDS_ROW = BK * 4, NDS_ROW = BN * 4;               // bytes

// Where a thread works. Its rows are row, row + 8, ..., row + 56 and its columns col..col+3,
// col+16.., col+32.., col+48.. of the block's tile.
struct Place {
  int row, col;
  __device__ explicit Place(int thread) {
    int lane = thread % 32, warp = thread / 32;
    // 8 rows x 4 columns of lanes. Lanes 2n and 2n + 1 share a row, lanes n and n ^ 2 a column:
    // only then does a 16-byte load with broadcast cost 2 wavefronts instead of 4.
    int y = (lane >> 1 & 1) | (lane >> 2 & 6);
    int x = (lane & 1) | (lane >> 1 & 2);
    row = warp / WARP_COLUMNS * 64 + y;
    col = warp % WARP_COLUMNS * 64 + x * 4;
  }
  // Address of chunk 0 of this thread's first row of Mds; chunk c is at this ^ (c * 16), and the
  // row r * 8 further down at + r * 8 * MDS_ROW, because 8 rows later the permutation is the same.
  __device__ uint32_t m(uint32_t stage) const { return stage + row * MDS_ROW + (row % 8) * 16; }
  // Address of this thread's columns in step 0 of Nds; step i is at + i * NDS_ROW.
  __device__ uint32_t n(uint32_t stage) const { return stage + MDS_BYTES + col * 4; }
};

// Four steps of k, m[r] for the thread's 8 rows.
__device__ __forceinline__ void load_m(float4 (&m)[TM], uint32_t address) {
#pragma unroll
  for (int r = 0; r < TM; ++r) m[r] = load_shared4(address + r * 8 * MDS_ROW);
}
// One step of k, n[c] for the thread's 4 groups of columns.
__device__ __forceinline__ void load_n(float4 (&n)[TN / 4], uint32_t address) {
#pragma unroll
  for (int c = 0; c < TN / 4; ++c) n[c] = load_shared4(address + c * 64);
}
// 128 FFMAs: step i (0..3) of m times n.
__device__ __forceinline__ void multiply(float (&sum)[TM][TN], const float4 (&m)[TM], int i,
                                         const float4 (&n)[TN / 4]) {
#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; ++c)
      sum[r][c] = fmaf(lane_of(m[r], i), lane_of(n[c / 4], c % 4), sum[r][c]);
}

// All 32 steps of a stage, left to the compiler to schedule (rungs 03 to 05).
__device__ __forceinline__ void multiply_stage(float (&sum)[TM][TN], uint32_t m_address,
                                               uint32_t n_address) {
#pragma unroll 2
  for (int i4 = 0; i4 < BK; i4 += 4) {
    float4 m[TM];
    load_m(m, m_address ^ (i4 * 4));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float4 n[TN / 4];
      load_n(n, n_address + (i4 + i) * NDS_ROW);
      multiply(sum, m, i, n);
    }
  }
}

__device__ __forceinline__ void clear(float (&sum)[TM][TN]) {
#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; ++c) sum[r][c] = 0.0f;
}

// Stores the thread's results, or rows [FIRST, END) of them, of the tile that begins at (row, col)
// of P, which is j x l.
template <int FIRST = 0, int END = TM>
__device__ __forceinline__ void store_tile(float* P, int row, int col, const Place& place, int j,
                                           int l, const float (&sum)[TM][TN]) {
#pragma unroll
  for (int r = FIRST; r < END; ++r)
#pragma unroll
    for (int c = 0; c < TN; c += 4)
      store_row(P, row + place.row + r * 8, col + place.col + c * 4, j, l, &sum[r][c]);
}

}  // namespace summit
