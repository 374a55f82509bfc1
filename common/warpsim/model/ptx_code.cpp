// Machine code where there is none: devices that today's ptxas does not write for. One machine
// instruction per PTX instruction, less those that never were one and loads that are operands.

#include "warpsim/model/machine_code.h"
#include "warpsim/model/shared_operands.h"
#include "warpsim/ptx/opcode_facts.h"

namespace warpsim {

namespace {

using ptx::Opcode;
using ptx::Space;

// Parameters are operands of other instructions, conversions of address spaces change nothing.
bool vanishes(const ptx::Instruction& p) {
  return p.op == Opcode::kCvta || (p.op == Opcode::kLd && p.space == Space::kParam) ||
         (p.op == Opcode::kMov && p.src.size() == 1 &&
          p.src[0].kind != ptx::Operand::Kind::kSpecial);
}

Work work_in_memory(ptx::OpcodeFacts::Memory memory, Space space) {
  using Memory = ptx::OpcodeFacts::Memory;
  switch (memory) {  // no default
    case Memory::kNone:
      break;
    case Memory::kLoad:
      if (space == Space::kShared) return Work::kSharedLoad;
      if (space == Space::kLocal) return Work::kLocal;
      if (space == Space::kConst) return Work::kConstant;
      return Work::kGlobalLoad;
    case Memory::kStore:
      if (space == Space::kShared) return Work::kSharedStore;
      return space == Space::kLocal ? Work::kLocal : Work::kGlobalStore;
    case Memory::kAtomic:
      return space == Space::kShared ? Work::kShuffle : Work::kAtomic;
    case Memory::kCopy:
      return Work::kAsyncCopy;
  }
  return Work::kInteger;
}

// Arithmetic, and whatever else no unit of its own does.
Work usual_work(const ptx::Instruction& p) {
  if (vanishes(p)) return Work::kUniform;
  if (p.type == ptx::Type::kF32) return Work::kFma;
  if (p.type == ptx::Type::kF64) return Work::kSlow;
  return p.op == Opcode::kMul || p.op == Opcode::kMad ? Work::kMultiply : Work::kInteger;
}

Work work_of(const ptx::Instruction& p) {
  using Unit = ptx::OpcodeFacts::Unit;
  const ptx::OpcodeFacts facts = ptx::facts_of(p.op);
  if (facts.memory != ptx::OpcodeFacts::Memory::kNone) return work_in_memory(facts.memory, p.space);
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
  switch (facts.unit) {  // no default
    case Unit::kUsual:
      return usual_work(p);
    case Unit::kSlow:
      return Work::kSlow;
    case Unit::kTensor:
      return Work::kTensor;
    case Unit::kShuffle:
      return Work::kShuffle;
    case Unit::kBarrier:
      return Work::kBarrier;
    case Unit::kBranch:
      return Work::kBranch;
    case Unit::kExit:
      return Work::kExit;
    case Unit::kCommitCopies:
      return Work::kCommitCopies;
    case Unit::kWaitCopies:
      return Work::kWaitCopies;
  }
#pragma GCC diagnostic pop
  return Work::kInteger;
}

void add_registers(const std::vector<ptx::Operand>& operands, std::vector<int16_t>* slots) {
  for (const ptx::Operand& operand : operands) {
    if (operand.reg >= 0) slots->push_back(int16_t(operand.reg));
    add_registers(operand.elements, slots);
  }
}

}  // namespace

MachineCode estimate_machine_code(const ptx::Function& function, const Timing& timing) {
  MachineCode out;
  out.from_ptx = true;
  out.slots = int(function.registers.size());
  std::vector<int16_t> slot_of(function.registers.size());
  for (size_t i = 0; i < slot_of.size(); ++i) slot_of[i] = int16_t(i);
  for (size_t i = 0; i < function.code.size(); ++i) {
    const ptx::Instruction& p = function.code[i];
    MachineInstruction m;
    m.work = work_of(p);
    m.ptx = int32_t(i);
    m.bytes = uint8_t(ptx::size_bytes(p.type) * p.vector_width);
    m.guarded = m.links = p.guard >= 0;
    if (vanishes(p)) m.issue_cycles = 0;
    if (p.op == Opcode::kBra && !p.src.empty()) m.target = p.src[0].target;
    if (p.op == Opcode::kCpAsyncWait && !p.src.empty()) m.pending_copies = uint8_t(p.src[0].imm);
    std::vector<int16_t> read, written;
    add_registers(p.src, &read);
    if (p.guard >= 0) read.push_back(int16_t(p.guard));
    for (int16_t reg : read) m.waits.push_back(slot_of[size_t(reg)]);
    add_registers(p.dst, &written);
    for (int16_t reg : written) slot_of[size_t(reg)] = written[0];
    if (!written.empty()) m.reports_to = written[0];
    out.code.push_back(std::move(m));
  }
  use_shared_operands(out, function, timing);
  return out;
}

}  // namespace warpsim
