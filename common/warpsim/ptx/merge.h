// Which accesses to shared memory ptxas makes one machine instruction of.
//
// PTX has a load per element; ptxas joins neighbours into LDS.64 and LDS.128 (stores into STS.64
// and STS.128) where it can prove the alignment, and loads an element once that PTX loads twice.
// What the hardware executes, and Nsight Compute counts, are the joined ones. The rules were found
// by experiments with ptxas of CUDA 13.0 for sm_90 (common/tests/ptx/merge/) and are held against
// its machine code for all kernels of this repository (docs/measurements/merged-accesses.md):
//
// - Addresses have to differ by a constant, in one basic block; the instructions have no guard, are
//   not volatile and load or store 4 or 8 bytes (an 8-byte one may be .v2 of 4 bytes).
// - Loads join across other loads, arithmetic, shuffles and accesses to global memory, but not
// across
//   barriers, fences, calls, atomics on shared memory or stores to it, unless the store is at a
//   constant distance too and does not overlap. Of an aligned block of 16 bytes three words of the
//   four are enough for one load of 16 bytes; else the two words of an aligned block of 8 bytes
//   join.
// - Stores join when they follow each other, in any order, with no other access to shared memory
//   between, and fill an aligned block of 16 or 8 bytes.
// - A load of .v4 of which only two elements are used is one of 8 bytes if they are a half of it,
// else
//   two of 4 bytes.
// - Aligned: what the registers are known to be multiples of (address_form.h) and ptxas's layout of
//   the shared arrays prove it.
//
// Not followed: accesses of 1 and 2 bytes; blocks that ptxas joins by predicates; loads that become
// neighbours when ptxas unrolls a loop that nvcc has not unrolled.

#pragma once

#include <cstdint>
#include <vector>

#include "warpsim/ptx/flow.h"
#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

struct MergedAccess {
  std::vector<uint32_t> instructions;  // in ascending order: indices into the code
  uint32_t bytes = 0;                  // per lane, of the one machine instruction
  uint32_t times = 1;                  // so many of them, where a load falls apart
};

// All merged accesses of the function, ordered by their first instruction.
std::vector<MergedAccess> merge_shared_accesses(const Module& module, const Function& function,
                                                const Flow& flow);

}  // namespace warpsim::ptx
