// How many registers of a lane hold the matrices of a tensor-core instruction.
//
// Source: PTX ISA, "Matrix multiply-accumulate operation using mma instruction", the tables of
// fragments.

#pragma once

#include <cstdint>
#include <optional>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// Registers in each operand of an mma: of 32 bits with four numbers of 8 bits in each, two of 16,
// or one of 32; of 64 bits where all are doubles.
struct FragmentRegisters {
  uint8_t d = 0, a = 0, b = 0, c = 0;
};

// Nothing for shapes and types that are not modelled: fp64 but m8n8k4, integers of
// 4 bits and 1, fp8, sparse.
std::optional<FragmentRegisters> fragment_registers(const Instruction& mma);

}  // namespace warpsim::ptx
