// Which products ptxas adds up without rounding them first.
//
// PTX lets a mul and an add or sub without .rn be carried out as one multiply-add, which rounds
// once. nvcc writes fma.rn itself for a * b + c, but leaves a * b - c and c - a * b as a mul.f32
// and a sub.f32, of which ptxas makes an FFMA. The rule was found by experiments with ptxas of
// CUDA 13.0 for sm_90 (docs/measurements/contracted-products.md):
//
// - A product is contracted into every add and sub that uses it, or into none: all its uses must
//   be adds or subs of the same type without a rounding of their own, with the product's .ftz, in
//   its basic block. The product itself has no guard, no .rn and no .sat; the add may have a
//   guard, and .sat.
// - An add of two such products takes the one with fewer uses, of equals its first operand. The
//   other one is then used as a number, and contracted nowhere.
//
// Not followed, so that both are rounded: a product whose factors are written to again before its
// last use, that is copied or negated first, or one of whose uses is dead code.

#pragma once

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// Rewrites such adds and subs, each in its place, into fma.rn; its first or third operand may be
// `negated`. The products stay, used by nobody. Returns how many were rewritten.
size_t contract_products(Function* function);

}  // namespace warpsim::ptx
