// M whose rows do not begin at multiples of 16 bytes, without a copy of it (rung 08).
//
// The copy engine needs a pitch and a beginning of 16-byte multiples. Every fourth row of M has
// such a pitch, whatever k is; rounding its beginning down adds `shift` (0 to 3) elements before
// it. So there are four maps, of rows 0, 4, 8, ..., of rows 1, 5, 9, ... and so on, and each has a
// shift of its own. A warp's 64 rows are of one such class: what it takes for step i is row i -
// shift of its class's M, and it reads the tile of N that many rows higher up (LEAD). Tiles of P
// are therefore made of every fourth row: one of 256 x 128 of all four classes of 256 rows, one of
// 128 rows of two of these classes. For the latter, the rows behind the last whole 256 are copied
// (the "tail") and taken as they are, else more tiles would be needed.
#pragma once

#include "maps.h"
#include "straight_loop.cuh"

namespace summit {

constexpr int CLASSES = 4;
constexpr int CLASS_ROWS = 64 * CLASSES;  // rows of P that are divided into classes together

// The first row of the tail in a product of j rows; j if there is none.
__host__ __device__ inline int tail_row(int j, int tile_rows) {
  return tile_rows == CLASS_ROWS ? j : j / CLASS_ROWS * CLASS_ROWS;
}

#ifdef SUMMIT_SHIFTED
using OperandMaps = ShiftedMaps;
#else
using OperandMaps = Maps;
#endif

// The rows of a tile: warps take 64 each, of one class; or as they come.
struct TileRows {
  int first;  // in P, of the tile's row 0
  bool apart;

  // Of tile row `number` from above in P.
  static __device__ int first_of(int number, int j) {
    if (LEAD == 0 || number * BM >= tail_row(j, BM)) return number * BM;
    constexpr int tiles = CLASS_ROWS / BM;  // that share the same 256 rows
    return number / tiles * CLASS_ROWS + number % tiles * WARP_ROWS;
  }
  __device__ TileRows(int first, int j)
      : first(first), apart(LEAD > 0 && first < tail_row(j, BM)) {}
  // Row `row` of the tile, in P.
  __device__ int operator()(int row) const {
    return first + (apart ? row % 64 * CLASSES + row / 64 : row);
  }
  // From a row of a warp to its next.
  __device__ int step() const { return apart ? CLASSES : 1; }
};

// Waits for the slices of N that are copied first, and with them for all kernels before.
__device__ __forceinline__ void wait_for_first(const Progress& progress) {
  while (int(load_acquire(progress.first_done) - progress.blocks) < 0) __nanosleep(100);
  fence_before_bulk_reads();
}
// Waits for a slice of N. Those before it have been waited for.
__device__ __forceinline__ void wait_for_slice(const Progress& progress, int slice) {
  if (slice < progress.first || slice >= progress.count) return;
  auto words = reinterpret_cast<const unsigned*>(progress.slices + slice);
  for (int w = 0; w < 4; ++w)
    while (load_acquire(words + w) != progress.epoch) __nanosleep(100);
  fence_before_bulk_reads();
}

// As produce() of straight_loop.cuh, M by 64 rows of a class each, N from LEAD rows before on. The
// work is divided among producing warps, which run on different schedulers: what a scheduler issues
// for copies it does not issue for FFMAs. This is warp `part` of `parts`, by one thread.
__device__ __forceinline__ void produce(const Ring& ring, Cursor& cursor, const ShiftedMaps& maps,
                                        int row, int col, int k0, int stages, int j, int part,
                                        int parts) {
  TileRows rows(row, j);
  const CUtensorMap* map = rows.apart ? &maps.m[(row + part) % CLASSES] : &maps.tail;
  int at_row = rows.apart ? row / CLASS_ROWS * 64 : row - tail_row(j, BM) + part * 64;
  bool brings_m = part < WARP_ROWS, brings_n = part == parts - 1;
#pragma unroll 1
  for (; stages > 0; --stages, k0 += BK) {
    uint32_t stage = ring.stage(cursor.at), full = ring.full(cursor.at);
    barrier_wait(ring.empty(cursor.at), cursor.parity ^ 1);
    if (part == 0) barrier_expect(full, FILLED_BYTES);
    if (brings_m) copy_box(stage + part * 64 * MDS_ROW, map, k0, at_row, full);
    if constexpr (SLICES == 1)
      if (brings_n && maps.progress.first_done) wait_for_slice(maps.progress, k0 / BK);
    if (brings_n) copy_box(stage + MDS_BYTES, &maps.n, col, k0 - LEAD, full);
    cursor.advance();
  }
}

__device__ __forceinline__ void prepare(const ShiftedMaps& maps) {
  for (const CUtensorMap& m : maps.m) prefetch_map(&m);
  prefetch_map(&maps.n);
}

}  // namespace summit
