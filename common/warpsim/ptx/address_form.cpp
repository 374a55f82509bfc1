#include "warpsim/ptx/address_form.h"

#include <algorithm>
#include <bit>

#include "warpsim/ptx/control_flow.h"

namespace warpsim::ptx {

namespace {

constexpr uint32_t kMostZeroBits = 16;
constexpr size_t kMostTerms = 8;  // longer sums are taken as a value that is not known

uint32_t zero_bits_of(uint64_t value) {
  return std::min<uint32_t>(kMostZeroBits, uint32_t(std::countr_zero(value)));
}

uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// a + factor * b
AddressForm sum(AddressForm a, const AddressForm& b, int64_t factor) {
  a.offset += factor * b.offset;
  for (AddressForm::Term term : b.terms) {
    term.coefficient *= factor;
    auto same = std::find_if(a.terms.begin(), a.terms.end(), [&](const AddressForm::Term& t) {
      return t.reg == term.reg && t.symbol == term.symbol && t.version == term.version;
    });
    if (same == a.terms.end())
      a.terms.push_back(term);
    else
      same->coefficient += term.coefficient;
  }
  std::erase_if(a.terms, [](const AddressForm::Term& t) { return t.coefficient == 0; });
  std::sort(a.terms.begin(), a.terms.end());
  return a;
}

bool is_constant(const AddressForm& form) {
  return form.terms.empty();
}

bool is_integer(Type type) {
  return size_bytes(type) >= 4 && !is_float(type) && type != Type::kPred;
}

}  // namespace

std::vector<int64_t> shared_layout(const Module& module, const Function& function) {
  std::vector<bool> named(module.variables.size());
  auto note = [&](const Operand& operand) {
    if (operand.symbol >= 0) named[size_t(operand.symbol)] = true;
  };
  for (const Instruction& code : function.code) {
    for (const Operand& operand : code.src) {
      note(operand);
      for (const Operand& element : operand.elements) note(element);
    }
  }
  std::vector<int64_t> layout(module.variables.size(), -1);
  uint64_t end = 0;
  for (bool dynamic : {false, true}) {
    const uint64_t begin = end;  // dynamic variables all begin at one place
    for (size_t v = 0; v < layout.size(); ++v) {
      const Variable& variable = module.variables[v];
      if (!named[v] || variable.space != Space::kShared || variable.is_extern != dynamic) continue;
      const uint64_t at = round_up(dynamic ? begin : end, std::max(1u, variable.align_bytes));
      layout[v] = int64_t(at);
      end = std::max(end, at + variable.size_bytes);
    }
  }
  return layout;
}

AddressForms::AddressForms(const Module& module, const Function& function)
    : module_(module),
      function_(function),
      layout_(shared_layout(module, function)),
      version_(function.registers.size()),
      has_form_(function.registers.size()),
      forms_(function.registers.size()) {
  count_definitions();
  find_zero_bits();
}

void AddressForms::count_definitions() {
  definitions_.assign(function_.registers.size(), 0);
  for (const Instruction& code : function_.code) {
    // A guarded one may leave the value of before.
    visit_writes(code, [&](int32_t r) { definitions_[size_t(r)] += code.guard >= 0 ? 2 : 1; });
  }
}

// Like ptxas, this follows how many low bits are zero, not what they are otherwise: a value that
// begins at 8 and grows by 16 counts as a multiple of 8.
void AddressForms::find_zero_bits() {
  zero_bits_.assign(function_.registers.size(), kMostZeroBits);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& code : function_.code) {
      const auto bits = uint8_t(result_zero_bits(code));
      visit_writes(code, [&](int32_t r) {
        changed = changed || bits < zero_bits_[size_t(r)];
        zero_bits_[size_t(r)] = std::min(zero_bits_[size_t(r)], bits);
      });
    }
  }
}

uint32_t AddressForms::zero_bits(const Operand& operand) const {
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      return zero_bits_[size_t(operand.reg)];
    case Operand::Kind::kImmediate:
      return operand.is_f32 || operand.is_f64 ? 0 : zero_bits_of(operand.imm);
    case Operand::Kind::kSymbol:
      return std::min(zero_bits_of(uint64_t(operand.offset)),
                      known_zero_bits({{.symbol = operand.symbol}}));
    default:
      return 0;
  }
}

uint32_t AddressForms::result_zero_bits(const Instruction& code) const {
  if (code.dst.size() != 1 || !is_integer(code.type)) return 0;
  auto of = [&](size_t i) { return i < code.src.size() ? zero_bits(code.src[i]) : 0; };
  auto constant = [&](size_t i) { return code.src[i].kind == Operand::Kind::kImmediate; };
  switch (code.op) {
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kNeg:
      return of(0);
    case Opcode::kCvt:
      return is_integer(code.src_type) ? of(0) : 0;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kOr:
    case Opcode::kXor:
      return std::min(of(0), of(1));
    case Opcode::kSelp:
      return std::min(of(0), of(1));
    case Opcode::kAnd:
      return std::max(of(0), of(1));
    case Opcode::kMul:
    case Opcode::kMad: {
      if (code.part == MulPart::kHi) return 0;
      const uint32_t product = std::min(kMostZeroBits, of(0) + of(1));
      return code.op == Opcode::kMul ? product : std::min(product, of(2));
    }
    case Opcode::kShl:
      return constant(1) ? std::min<uint32_t>(kMostZeroBits, of(0) + uint32_t(code.src[1].imm))
                         : of(0);
    case Opcode::kShr:
      return constant(1) && of(0) > code.src[1].imm ? of(0) - uint32_t(code.src[1].imm) : 0;
    default:  // no bit is known to be zero: right for every opcode
      return 0;
  }
}

uint32_t AddressForms::known_zero_bits(const std::vector<AddressForm::Term>& terms) const {
  uint32_t bits = kMostZeroBits;
  for (const AddressForm::Term& term : terms) {
    uint32_t own = 0;
    if (term.reg >= 0) {
      own = zero_bits_[size_t(term.reg)];
    } else if (layout_[size_t(term.symbol)] >= 0 && function_.is_kernel) {
      own = zero_bits_of(uint64_t(layout_[size_t(term.symbol)]));
    } else {
      own = zero_bits_of(std::max(1u, module_.variables[size_t(term.symbol)].align_bytes));
    }
    bits = std::min(bits, own + zero_bits_of(uint64_t(term.coefficient)));
  }
  return bits;
}

void AddressForms::begin_block(uint32_t first_instruction) {
  std::fill(version_.begin(), version_.end(), 2 * first_instruction);
}

void AddressForms::pass(uint32_t instruction) {
  const Instruction& code = function_.code[instruction];
  const bool followed = code.dst.size() == 1 && code.dst[0].kind == Operand::Kind::kRegister &&
                        definitions_[size_t(code.dst[0].reg)] == 1 && is_integer(code.type);
  if (followed) {
    forms_[size_t(code.dst[0].reg)] = result(code);
    has_form_[size_t(code.dst[0].reg)] = true;
  }
  visit_writes(code, [&](int32_t r) { version_[size_t(r)] = 2 * instruction + 1; });
}

AddressForm AddressForms::of_register(int32_t reg) const {
  if (definitions_[size_t(reg)] == 1 && has_form_[size_t(reg)]) return forms_[size_t(reg)];
  const uint32_t version = definitions_[size_t(reg)] <= 1 ? 0 : version_[size_t(reg)];
  return {{{.reg = reg, .version = version}}, 0};
}

AddressForm AddressForms::of(const Operand& operand) const {
  if (operand.kind == Operand::Kind::kImmediate) return {{}, int64_t(operand.imm)};
  AddressForm form;
  if (operand.reg >= 0) form = of_register(operand.reg);
  if (operand.symbol >= 0) form = sum(form, {{{.symbol = operand.symbol}}, 0}, 1);
  form.offset += operand.offset;
  if (operand.kind == Operand::Kind::kAddress) form.offset += int64_t(operand.imm);
  return form;
}

// A value that is no sum of this kind stands for itself.
AddressForm AddressForms::result(const Instruction& code) const {
  const AddressForm itself{{{.reg = code.dst[0].reg}}, 0};
  auto at = [&](size_t i) { return of(code.src[i]); };
  auto readable = [&](size_t count) {
    if (code.src.size() < count) return false;
    return std::all_of(code.src.begin(), code.src.begin() + long(count), [](const Operand& o) {
      return o.kind == Operand::Kind::kRegister || o.kind == Operand::Kind::kSymbol ||
             (o.kind == Operand::Kind::kImmediate && !o.is_f32 && !o.is_f64);
    });
  };
  AddressForm form = itself;
  switch (code.op) {
    case Opcode::kMov:
    case Opcode::kCvta:
      if (readable(1)) form = at(0);
      break;
    case Opcode::kCvt:
      if (readable(1) && is_integer(code.src_type) &&
          size_bytes(code.type) >= size_bytes(code.src_type))
        form = at(0);
      break;
    case Opcode::kAdd:
    case Opcode::kSub:
      if (readable(2)) form = sum(at(0), at(1), code.op == Opcode::kAdd ? 1 : -1);
      break;
    case Opcode::kOr: {  // the compiler's way to add where no bit can carry
      const bool disjoint = readable(2) && code.src[1].kind == Operand::Kind::kImmediate &&
                            code.src[1].imm >> zero_bits(code.src[0]) == 0;
      if (disjoint) form = sum(at(0), at(1), 1);
      break;
    }
    case Opcode::kShl:
      if (readable(2) && code.src[1].kind == Operand::Kind::kImmediate && code.src[1].imm < 32)
        form = sum({}, at(0), int64_t{1} << code.src[1].imm);
      break;
    case Opcode::kMul:
    case Opcode::kMad: {
      if (code.part == MulPart::kHi || !readable(code.op == Opcode::kMul ? 2 : 3)) break;
      const AddressForm a = at(0), b = at(1);
      if (!is_constant(a) && !is_constant(b)) break;
      const AddressForm start = code.op == Opcode::kMad ? at(2) : AddressForm{};
      form = is_constant(a) ? sum(start, b, a.offset) : sum(start, a, b.offset);
      break;
    }
    default:  // stands for itself: right for every opcode
      break;
  }
  return form.terms.size() > kMostTerms ? itself : form;
}

}  // namespace warpsim::ptx
