// Control flow and lifetimes of one function: what the executor needs to know before it runs a
// warp.

#pragma once

#include <cstdint>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

struct Flow {
  // Per instruction: for a branch that may diverge (a guarded bra, any brx), the first instruction
  // of its immediate post-dominator, where the lanes of the warp join again; code.size() when they
  // only meet at the function's end. Other instructions: own index + 1.
  //
  // Early returns do not count as paths where a barrier or another collective (shuffle, vote, call)
  // may follow on the rest: with `if (row >= n) return;` before __syncthreads() the branch
  // reconverges where the others go on, so that the lanes that return are run to their end, and are
  // gone, before the others reach the barrier.
  std::vector<uint32_t> reconvergence;
  // Per instruction: true where a basic block begins.
  std::vector<bool> leader;
};
Flow analyse_flow(const Function& function);

// Virtual registers packed into few storage slots, so that a warp's registers stay in the nearest
// cache. Two registers share a slot only if their lifetimes (per thread, over the control-flow
// graph) do not overlap; a destination never shares one with a source of its own instruction or
// with another destination. A register that is read before it is ever written has no particular
// value. Each kind has a numbering of its own, from 0.
struct Slots {
  // Per register; 64-bit registers have slots of their own kind (see `kind`).
  std::vector<int32_t> slot;
  enum class Kind : uint8_t { kPredicate, k32, k64 };
  std::vector<Kind> kind;  // per register (8- and 16-bit registers live in 32-bit slots)
  uint32_t predicate_count = 0, count_32 = 0, count_64 = 0;
};
Slots assign_slots(const Function& function, const Flow& flow);

}  // namespace warpsim::ptx
