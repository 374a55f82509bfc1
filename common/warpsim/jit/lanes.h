// The machine code of operations that work lane by lane, and of predicates.

#pragma once

#include <cstdint>
#include <unordered_map>

#include "warpsim/jit/actions.h"
#include "warpsim/jit/assembler.h"
#include "warpsim/machine/program.h"

namespace warpsim::jit {

// Rows that hold one value in every lane, as the decoder made them: value by row.
using Constants = std::unordered_map<uint32_t, uint64_t>;

// Emits the operation, comparisons and predicate logic included. False, and nothing emitted: its
// handler has to do it. `addend_dies`: the value of row c is not wanted after the operation.
bool emit_lanes(Assembler& code, const Op& op, const Meaning& meaning, const Constants& constants,
                bool addend_dies);

}  // namespace warpsim::jit
