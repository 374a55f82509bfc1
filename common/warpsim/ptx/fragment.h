// How many registers of a lane hold the matrices of a tensor-core instruction.
//
// Source: PTX ISA, "Matrix multiply-accumulate operation using mma instruction", the tables of
// fragments.

#pragma once

#include <cstdint>
#include <optional>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// Registers of 32 bits in each operand of an mma: two numbers of 16 bits in each, or one of 32.
struct FragmentRegisters {
  uint8_t d = 0, a = 0, b = 0, c = 0;
};

// Nothing for shapes and types that are not modelled: fp64, integers, fp8, sparse.
std::optional<FragmentRegisters> fragment_registers(const Instruction& mma);

}  // namespace warpsim::ptx
