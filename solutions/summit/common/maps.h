// What a kernel is told of its operands, as a kernel argument: maps for the copy engine, of M in
// boxes of the tile's rows x 32 swizzled and of N in boxes of 32 x the tile's columns.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

namespace summit {

struct Maps {
  CUtensorMap m, n;
};

// How far a copy of N beside the product has come (common/copy_beside.h). All of it is copied, and
// nothing to wait for, where first_done is null.
struct Progress {
  const unsigned* first_done;  // blocks that have copied their part of the first slices
  const uint4* slices;         // four words each: `epoch` once they are complete
  unsigned blocks, epoch;
  int first, count;  // slices that are copied first, and all
};

// Of M whose rows do not begin at multiples of 16 bytes (shifted.cuh): m[c] has rows c, c + 4, ...
// from shift[c] elements before row c on, in boxes of 64 x 32; tail, likewise, the copied last
// rows.
struct ShiftedMaps {
  CUtensorMap m[4], tail, n;
  int shift[4];
  Progress progress;
};

}  // namespace summit
