// Accesses to parts of words, for which a shadow has a record per byte.

#pragma once

#include "warpsim/ptx/ir.h"

namespace warpsim {

// Whether the instruction loads or stores less than a word of shared or of global memory.
bool touches_part_of_shared_word(const ptx::Instruction& code);
bool touches_part_of_global_word(const ptx::Instruction& code);

}  // namespace warpsim
