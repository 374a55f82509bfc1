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

Work work_of(const ptx::Instruction& p) {
  switch (p.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
      if (p.space == Space::kShared) return Work::kSharedLoad;
      if (p.space == Space::kLocal) return Work::kLocal;
      if (p.space == Space::kConst) return Work::kConstant;
      return Work::kGlobalLoad;
    case Opcode::kSt:
      if (p.space == Space::kShared) return Work::kSharedStore;
      return p.space == Space::kLocal ? Work::kLocal : Work::kGlobalStore;
    case Opcode::kAtom:
    case Opcode::kRed:
      return p.space == Space::kShared ? Work::kShuffle : Work::kAtomic;
    case Opcode::kBar:
      return Work::kBarrier;
    case Opcode::kBra:
      return Work::kBranch;
    case Opcode::kRet:
    case Opcode::kExit:
      return Work::kExit;
    case Opcode::kCpAsync:
      return Work::kAsyncCopy;
    case Opcode::kCpAsyncCommit:
      return Work::kCommitCopies;
    case Opcode::kCpAsyncWait:
      return Work::kWaitCopies;
    case Opcode::kShfl:
      return Work::kShuffle;
    default:
      break;
  }
  switch (ptx::facts_of(p.op).unit) {
    case ptx::OpcodeFacts::Unit::kTensor:
      return Work::kTensor;
    case ptx::OpcodeFacts::Unit::kSlow:
      return Work::kSlow;
    case ptx::OpcodeFacts::Unit::kUsual:
      break;
  }
  if (vanishes(p)) return Work::kUniform;
  if (p.type == ptx::Type::kF32) return Work::kFma;
  if (p.type == ptx::Type::kF64) return Work::kSlow;
  return p.op == Opcode::kMul || p.op == Opcode::kMad ? Work::kMultiply : Work::kInteger;
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
