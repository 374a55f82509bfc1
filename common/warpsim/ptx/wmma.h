// wmma, in the instructions that ptxas makes of it.
//
// PTX leaves open where the elements of a wmma fragment lie. ptxas makes mma.sync, loads and stores
// of wmma, and by this the places are set. This is what ptxas of CUDA 13.0 does for sm_90, as
// nvdisasm shows; docs/measurements/wmma.md has the check against an H200:
//
// - A product of 16 x 16 or 32 x 8 is two of m16n8k16. One of 8 x 32 is computed as its transposed,
//   with B for A. One of tf32 is m16n8k4 four times: both halves of k for both of n.
// - A fragment is one of blocks of 8 x 8 numbers, each held as mma holds it: a line of a block (a
//   row of A, a column of B) by four lanes. Of A and B of f16 eight registers are named; products
//   take the first ones, and the others hold the same once more.
// - Of bytes a block is 8 lines of 16 numbers, and a product of 16 x 16 or 32 x 8 two of m16n8k16.
//   Which register holds which block is our choice: nobody has looked at ptxas' here.
// - A product of doubles is one m8n8k4, whose places its fragments have (nvdisasm 13.2).
// - 16-bit blocks that lie the other way round in memory are loaded as they lie, and turned by
//   movmatrix. A and B that are known to lie in shared memory are loaded by ldmatrix.

#pragma once

#include <cstddef>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// Whether this wmma.load, wmma.store or wmma.mma is one of those that are modelled; and how many
// registers its operand `place` has, 0 being the destination.
bool is_modelled_wmma(const Instruction& wmma);
size_t wmma_registers(const Instruction& wmma, size_t place);

// Replaces them in all functions.
void expand_wmma(Module* module);

}  // namespace warpsim::ptx
