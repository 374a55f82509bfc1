// Module -> PTX text, for tests and for looking at what the parser understood.

#pragma once

#include <string>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// PTX that parses to the same module again, in a canonical form: prototypes, module variables,
// functions, kernels; registers declared one by one, labels named after instruction indices,
// modifiers without effect here (cache hints) left out. Two differences remain: functions and
// variables may be numbered differently, and operands that the IR does not keep (kUnknown, tensor
// cores) are lost.
std::string print(const Module& module);

// One instruction without guard and ';', as it stands in print(): "add.s32 %r1, %r2, 4".
std::string print(const Module& module, const Function& function, const Instruction& instruction);

// The mnemonic that decodes to these fields: canonical order, without what has no effect here
// (cache hints, scopes).
std::string spell_mnemonic(const Instruction& instruction);

}  // namespace warpsim::ptx
