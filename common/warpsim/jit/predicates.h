// The machine code of comparisons and of predicates' logic: 32 lanes are the bits of one word.

#pragma once

#include "warpsim/jit/actions.h"
#include "warpsim/jit/assembler.h"
#include "warpsim/machine/program.h"

namespace warpsim::jit {

bool makes_predicate(Action action);
void emit_predicate(Assembler& code, const Op& op, const Meaning& meaning);

}  // namespace warpsim::jit
