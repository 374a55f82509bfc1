#include "warpsim/trace/types.h"

namespace warpsim::trace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

uint32_t bit(Type type) {
  return 1u << static_cast<uint32_t>(type);
}

// Instructions that hand a value on as it is.
bool hands_on(const ptx::Instruction& code) {
  return code.op == Opcode::kMov || code.op == Opcode::kSelp || code.op == Opcode::kShfl;
}

std::string name_of_seen(uint32_t seen, uint32_t bytes) {
  auto has = [&](Type type) { return (seen & bit(type)) != 0; };
  if (bytes == 8) return has(Type::kF64) ? "f64" : has(Type::kS64) ? "s64" : "u64";
  if (bytes == 4)
    return has(Type::kF32) || has(Type::kTF32) ? "f32" : has(Type::kS32) ? "s32" : "u32";
  if (bytes == 2)
    return has(Type::kF16) ? "f16" : has(Type::kBF16) ? "bf16" : has(Type::kS16) ? "s16" : "u16";
  return has(Type::kS8) ? "s8" : "u8";
}

}  // namespace

uint32_t ValueTypes::add(const ptx::Function& function) {
  const auto first = static_cast<uint32_t>(parent_.size());
  for (size_t i = 0; i < function.registers.size(); ++i) {
    add_array();
    note(first + uint32_t(i), function.registers[i].type);
  }
  for (const ptx::Instruction& code : function.code) {
    const bool is_memory = code.op == Opcode::kLd || code.op == Opcode::kLdu ||
                           code.op == Opcode::kSt || code.op == Opcode::kAtom ||
                           code.op == Opcode::kRed;
    auto each = [&](const Operand& operand, auto body) {
      if (operand.kind == Operand::Kind::kRegister) body(first + uint32_t(operand.reg));
      for (const Operand& element : operand.elements) {
        if (element.kind == Operand::Kind::kRegister) body(first + uint32_t(element.reg));
      }
    };
    if (hands_on(code) && !code.src.empty() && code.dst.size() == 1) {
      const Operand &to = code.dst[0], &from = code.src[0];
      if (to.kind == Operand::Kind::kRegister && from.kind == Operand::Kind::kRegister)
        join(first + uint32_t(to.reg), first + uint32_t(from.reg));
      continue;
    }
    for (const Operand& operand : code.dst) each(operand, [&](uint32_t r) { note(r, code.type); });
    const Type read = code.op == Opcode::kCvt ? code.src_type : code.type;
    for (size_t i = 0; i < code.src.size(); ++i) {
      if (is_memory && i == 0) continue;  // the address
      each(code.src[i], [&](uint32_t r) { note(r, read); });
    }
  }
  return first;
}

uint32_t ValueTypes::add_array() {
  parent_.push_back(uint32_t(parent_.size()));
  seen_.push_back(0);
  return uint32_t(parent_.size() - 1);
}

uint32_t ValueTypes::root(uint32_t member) const {
  while (parent_[member] != member) member = parent_[member] = parent_[parent_[member]];
  return member;
}

void ValueTypes::note(uint32_t member, Type type) {
  seen_[root(member)] |= bit(type);
}

void ValueTypes::join(uint32_t a, uint32_t b) {
  a = root(a), b = root(b);
  if (a == b) return;
  parent_[b] = a;
  seen_[a] |= seen_[b];
}

std::string ValueTypes::name(uint32_t member, uint32_t bytes, Type declared) const {
  return name_of_seen(seen_[root(member)] | bit(declared), bytes);
}

std::string ValueTypes::name_of(Type type, uint32_t bytes) {
  return name_of_seen(bit(type), bytes);
}

}  // namespace warpsim::trace
