// The control-flow graph of one function: basic blocks, edges, and which registers an instruction
// reads and writes.

#pragma once

#include <cstdint>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

struct Block {
  uint32_t begin = 0, end = 0;       // instructions [begin, end)
  std::vector<uint32_t> successors;  // blocks; none at a return
};

// Where basic blocks begin, per instruction. A trap ends the launch, not a block: nothing is gained
// by an edge less.
std::vector<bool> find_leaders(const Function& function);

// Blocks in the order of the code; block 0 is the entry.
std::vector<Block> build_blocks(const Function& function, const std::vector<bool>& leader);

// Calls visit(register) for each register an operand names, inside vectors and addresses too.
template <typename Visit>
void visit_registers(const Operand& operand, Visit&& visit) {
  if (operand.reg >= 0) visit(operand.reg);
  for (const Operand& element : operand.elements) visit_registers(element, visit);
}

template <typename Visit>
void visit_reads(const Instruction& instruction, Visit&& visit) {
  if (instruction.guard >= 0) visit(instruction.guard);
  for (const Operand& source : instruction.src) visit_registers(source, visit);
}

template <typename Visit>
void visit_writes(const Instruction& instruction, Visit&& visit) {
  for (const Operand& destination : instruction.dst) visit_registers(destination, visit);
}

// Registers that some path reads before it has written them: they hold anything.
std::vector<int32_t> read_before_written(const Function& function);

}  // namespace warpsim::ptx
