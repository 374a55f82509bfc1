// What a kernel is told of its operands, as a kernel argument: maps for the copy engine, of M in
// boxes of the tile's rows x 32 swizzled and of N in boxes of 32 x the tile's columns.
#pragma once

#include <cuda.h>

namespace summit {

struct Maps {
  CUtensorMap m, n;
};

// Of M whose rows do not begin at multiples of 16 bytes (shifted.cuh): m[c] has rows c, c + 4, ...
// from shift[c] elements before row c on, in boxes of 64 x 32; tail, likewise, the copied last
// rows.
struct ShiftedMaps {
  CUtensorMap m[4], tail, n;
  int shift[4];
};

}  // namespace summit
