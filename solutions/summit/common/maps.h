// What a kernel is told of its operands, as a kernel argument: maps for the copy engine, of M in
// boxes of the tile's rows x 32 swizzled and of N in boxes of 32 x the tile's columns.
#pragma once

#include <cuda.h>

namespace summit {

struct Maps {
  CUtensorMap m, n;
};

}  // namespace summit
