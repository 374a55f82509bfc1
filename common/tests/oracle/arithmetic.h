// What one instruction computes from the bits of its source operands. Everything here is a function
// of its arguments.

#pragma once

#include <cstdint>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace oracle {

// Operands as bits in 64-bit words, sources in PTX order; higher bits than the operand has are
// ignored.
using Sources = std::vector<uint64_t>;

// `bits` cut to the width of `type`; value_of also extends the sign of signed types.
uint64_t cut(uint64_t bits, uint32_t bytes);
__int128 value_of(warpsim::ptx::Type type, uint64_t bits);

// Arithmetic, logic, shifts, bit fields, selection and conversion: the bits of the (first)
// destination, cut to the result's width. Throws Undefined for what is not covered. add.cc and its
// kin read and write *carry.
uint64_t evaluate(const warpsim::ptx::Instruction& instruction, const Sources& sources,
                  bool* carry);
uint64_t evaluate_integer(const warpsim::ptx::Instruction& instruction, const Sources& sources,
                          bool* carry);
uint64_t evaluate_bits(const warpsim::ptx::Instruction& instruction, const Sources& sources);
uint64_t evaluate_float(const warpsim::ptx::Instruction& instruction, const Sources& sources);
uint64_t evaluate_half(const warpsim::ptx::Instruction& instruction, const Sources& sources);
uint64_t convert_half(const warpsim::ptx::Instruction& instruction, const Sources& sources);
uint64_t evaluate_convert(const warpsim::ptx::Instruction& instruction, const Sources& sources);

// The comparison of setp and set, without their boolean operation.
bool compare(const warpsim::ptx::Instruction& instruction, warpsim::ptx::Type type, uint64_t a,
             uint64_t b);
bool combine(warpsim::ptx::BoolOp op, bool result, bool other);
bool test_property(const warpsim::ptx::Instruction& instruction, uint64_t a);

// The value an atomic operation leaves in memory.
uint64_t atomic_result(const warpsim::ptx::Instruction& instruction, uint64_t old,
                       const Sources& operands);

[[noreturn]] void not_covered(const warpsim::ptx::Instruction& instruction);

}  // namespace oracle
