// The modifiers of an instruction: ".lo.s32" -> fields of Instruction, and back.

#pragma once

#include <string>
#include <string_view>

#include "warpsim/ptx/ir.h"
#include "warpsim/ptx/opcode_table.h"

namespace warpsim::ptx {

// Decodes instruction->mnemonic by `row`: sets op, types and modifiers. Returns "" or, for text
// that no PTX can be, what is wrong with it. A modifier that the row does not have makes op
// kUnknown.
std::string decode_mnemonic(const OpcodeRow& row, Instruction* instruction);

}  // namespace warpsim::ptx
