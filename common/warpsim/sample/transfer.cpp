#include "warpsim/sample/transfer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "warpsim/machine/worker.h"
#include "warpsim/ptx/opcode_facts.h"

namespace warpsim::sample {

namespace {

using Kind = BlockValue::Kind;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

constexpr int64_t kMaxModulus = 1 << 20;  // more classes than anybody would run

uint32_t bits_of(Type type) {
  return 8 * ptx::size_bytes(type);
}

bool is_integer(Type type) {
  return !ptx::is_float(type) && type != Type::kPred &&
         (ptx::size_bytes(type) == 4 || ptx::size_bytes(type) == 8);
}

uint64_t cut(uint64_t value, Type type) {
  return ptx::size_bytes(type) == 4 ? uint32_t(value) : value;
}

// As a number, by the type's sign.
int64_t number(uint64_t value, Type type) {
  if (ptx::size_bytes(type) != 4) return int64_t(value);
  return ptx::is_signed(type) ? int64_t{int32_t(uint32_t(value))} : int64_t{uint32_t(value)};
}

BlockValue cut_to(BlockValue v, Type type) {
  if (v.kind == Kind::kLinear) v.change = reduced(v.change, ptx::size_bytes(type) == 4);
  return v;
}

// Asks that a value which moves by `change` stay the same modulo `modulus`, if anybody is to ask.
// False: it would be too much to ask.
bool keep_modulo(const Linear& change, int64_t modulus, Demands* demands) {
  if (!Demands::can_ask(change, modulus)) return false;
  if (demands != nullptr) demands->same_modulo(change, modulus);
  return true;
}

}  // namespace

void Demands::no_wrap(uint32_t operand, const Linear& change, Type type, bool non_negative) {
  Watch w;
  w.kind = Watch::Kind::kRange;
  w.type = type;
  w.a = operand;
  w.den = change.den;
  w.non_negative = non_negative;
  needs.push_back({w, change});
}

void Demands::same_sign(uint32_t operand, const Linear& change, Type type) {
  Watch w;
  w.kind = Watch::Kind::kSign;
  w.type = ptx::size_bytes(type) == 4 ? Type::kS32 : Type::kS64;
  w.a = operand;
  w.den = change.den;
  needs.push_back({w, change});
}

bool Demands::can_ask(const Linear& change, int64_t modulus) {
  return modulus <= kMaxModulus && change.den <= kMaxModulus;
}

void Demands::same_modulo(const Linear& change, int64_t modulus) {
  Phase phase{change.c, change.den * modulus};
  bool all = true;
  for (int64_t& c : phase.c) {
    c %= phase.modulus;
    all = all && c == 0;
  }
  if (!all && std::find(phases.begin(), phases.end(), phase) == phases.end())
    phases.push_back(phase);
}

BlockValue Transfer::special(ptx::Special special) const {
  using S = ptx::Special;
  auto below = [](uint64_t end) {
    BlockValue v = BlockValue::fixed();
    v.max = end - 1;
    return v;
  };
  auto block = [&](size_t axis) {
    BlockValue v = BlockValue::fixed();
    if (context_.grid[axis] > 1) v.change.c[axis] = 1;
    v.max = context_.grid[axis] - 1;
    return v;
  };
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
  switch (special) {  // no default
    case S::kCtaidX:
      return block(0);
    case S::kCtaidY:
      return block(1);
    case S::kCtaidZ:
      return block(2);
    case S::kTidX:
      return below(context_.block[0]);
    case S::kTidY:
      return below(context_.block[1]);
    case S::kTidZ:
      return below(context_.block[2]);
    case S::kNtidX:
      return BlockValue::constant(context_.block[0]);
    case S::kNtidY:
      return BlockValue::constant(context_.block[1]);
    case S::kNtidZ:
      return BlockValue::constant(context_.block[2]);
    case S::kNctaidX:
      return BlockValue::constant(context_.grid[0]);
    case S::kNctaidY:
      return BlockValue::constant(context_.grid[1]);
    case S::kNctaidZ:
      return BlockValue::constant(context_.grid[2]);
    case S::kLaneid:
      return below(kLanes);
    case S::kWarpid:
      return below(context_.warps_per_block);
    case S::kSmid:
    case S::kNsmid:
    case S::kClock:
    case S::kClockHi:
    case S::kClock64:
    case S::kGlobaltimer:
    case S::kGlobaltimerLo:
    case S::kGlobaltimerHi:
    case S::kPm:
    case S::kEnvreg1:
    case S::kEnvreg2:
      return BlockValue::bad(Kind::kOpaque);  // the place and the time differ from block to block
    case S::kNwarpid:
    case S::kGridid:
    case S::kLanemaskEq:
    case S::kLanemaskLe:
    case S::kLanemaskLt:
    case S::kLanemaskGe:
    case S::kLanemaskGt:
    case S::kDynamicSmemSize:
    case S::kTotalSmemSize:
      return BlockValue::fixed();
  }
#pragma GCC diagnostic pop
  return BlockValue::bad(Kind::kOpaque);
}

BlockValue Transfer::operand(const Operand& o, Type type) const {
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
  switch (o.kind) {  // no default
    case Operand::Kind::kImmediate:
      return BlockValue::constant(cut(o.imm, type));
    case Operand::Kind::kSpecial:
      return special(o.special);
    case Operand::Kind::kRegister:
      return registers_[size_t(o.reg)];
    case Operand::Kind::kAddress: {
      if (o.reg < 0) return BlockValue::fixed();
      BlockValue v = registers_[size_t(o.reg)];
      v.known.reset();
      v.max = UINT64_MAX;
      return v;
    }
    case Operand::Kind::kVector: {
      BlockValue v = BlockValue::fixed();
      for (const Operand& e : o.elements) {
        const BlockValue part = operand(e, type);
        if (part.kind == Kind::kUnset) return part;
        if (!part.is_fixed()) v = BlockValue::bad(std::max({v.kind, part.kind, Kind::kOpaque}));
      }
      return v;
    }
    case Operand::Kind::kNone:
    case Operand::Kind::kSymbol:
    case Operand::Kind::kLabel:
    case Operand::Kind::kFunction:
    case Operand::Kind::kSink:
      return BlockValue::fixed();
  }
#pragma GCC diagnostic pop
  return BlockValue::bad(Kind::kOpaque);
}

BlockValue Transfer::source(const Code& code, size_t index) const {
  return operand(code.src[index], code.type);
}

// The same place in another address space.
BlockValue Transfer::source_without_number(const Code& code) const {
  BlockValue v = source(code, 0);
  v.known.reset();
  v.max = UINT64_MAX;
  return v;
}

// A function of its operands of which nothing more is used.
BlockValue Transfer::any_function(const Code& code) const {
  BlockValue result = BlockValue::fixed();
  for (const Operand& o : code.src) {
    if (o.kind == Operand::Kind::kLabel || o.kind == Operand::Kind::kNone) continue;
    const BlockValue v = operand(o, code.type);
    if (v.kind == Kind::kUnset) return v;
    if (!v.is_fixed()) result = BlockValue::bad(std::max({result.kind, v.kind, Kind::kOpaque}));
  }
  return result;
}

BlockValue Transfer::add(const Code& code, int64_t sign) const {
  const BlockValue a = source(code, 0), b = source(code, 1);
  if (a.kind != Kind::kLinear || b.kind != Kind::kLinear) return any_function(code);
  BlockValue result = BlockValue::moving(sum(a.change, b.change, sign));
  if (a.known && b.known) {
    result.known = cut(*a.known + uint64_t(sign) * *b.known, code.type);
    result.max = *result.known;
  } else if (sign > 0 && a.max < UINT32_MAX / 2 && b.max < UINT32_MAX / 2) {
    result.max = a.max + b.max;
  }
  return result;
}

// A 32-bit source as the 64-bit number it stands for.
BlockValue Transfer::widen(const Code& code, size_t index, Type from, Demands* demands) const {
  BlockValue v = operand(code.src[index], from);
  if (v.kind != Kind::kLinear) return v;
  if (v.known) v.known = uint64_t(number(*v.known, from));
  if (v.max > (ptx::is_signed(from) ? INT32_MAX : UINT32_MAX)) v.max = UINT64_MAX;
  if (!v.change.is_zero() && demands != nullptr) demands->no_wrap(uint32_t(index), v.change, from);
  return v;
}

// mul and mad, .lo and .wide.
BlockValue Transfer::multiply(const Code& code, Demands* demands) const {
  const bool wide = code.part == ptx::MulPart::kWide;
  if (!wide && code.part != ptx::MulPart::kLo) return any_function(code);
  const BlockValue a = wide ? widen(code, 0, code.type, demands) : source(code, 0);
  const BlockValue b = wide ? widen(code, 1, code.type, demands) : source(code, 1);
  if (a.kind != Kind::kLinear || b.kind != Kind::kLinear) return any_function(code);
  const Type type = wide ? Type::kS64 : code.type;
  BlockValue product;
  if (a.is_fixed() && b.is_fixed()) {
    product = a.known && b.known ? BlockValue::constant(cut(*a.known * *b.known, type))
                                 : BlockValue::fixed();
  } else if (a.known || b.known) {
    const BlockValue &factor = a.known ? a : b, &moving = a.known ? b : a;
    // Of an unsigned factor too: only the low bits count, or it has been widened.
    const int64_t times_number = ptx::size_bytes(type) == 8
                                     ? int64_t(*factor.known)
                                     : int64_t{int32_t(uint32_t(*factor.known))};
    product = BlockValue::moving(times(moving.change, times_number));
  } else {
    return any_function(code);
  }
  if (code.op == Opcode::kMul) return product;
  const BlockValue c = operand(code.src[2], type);
  if (product.kind != Kind::kLinear || c.kind != Kind::kLinear)
    return c.kind == Kind::kUnset ? c : BlockValue::bad(std::max(product.kind, c.kind));
  BlockValue result = BlockValue::moving(sum(product.change, c.change));
  if (product.known && c.known) result = BlockValue::constant(cut(*product.known + *c.known, type));
  return result;
}

BlockValue Transfer::shift_left(const Code& code) const {
  const BlockValue a = source(code, 0), by = operand(code.src[1], Type::kU32);
  if (a.kind != Kind::kLinear || !by.known || *by.known >= bits_of(code.type))
    return any_function(code);
  if (a.known) return BlockValue::constant(cut(*a.known << *by.known, code.type));
  if (*by.known > 62) return any_function(code);
  return BlockValue::moving(times(a.change, int64_t{1} << *by.known));
}

// Rounded division of a number that is known not to wrap; of one below zero only if the division
// rounds down, as a shift does.
BlockValue Transfer::divide(const Code& code, int64_t divisor, Demands* demands) const {
  const BlockValue a = source(code, 0);
  if (a.kind != Kind::kLinear || divisor <= 0) return any_function(code);
  BlockValue result = BlockValue::fixed();
  const bool rounds_down = code.op == Opcode::kShr || !ptx::is_signed(code.type);
  if (a.max != UINT64_MAX && (!ptx::is_signed(code.type) || a.max <= INT32_MAX))
    result.max = a.max / uint64_t(divisor);
  if (a.known) {
    const int64_t value = number(*a.known, code.type);
    if (value >= 0) result = BlockValue::constant(uint64_t(value / divisor));
  }
  if (a.is_fixed()) return result;
  Linear change = a.change;
  if (__builtin_mul_overflow(change.den, divisor, &change.den) || change.den > kMaxModulus)
    return any_function(code);
  if (demands != nullptr) {
    demands->no_wrap(0, a.change, code.type, !rounds_down);
    demands->same_modulo(a.change, divisor);
  }
  result.change = reduced(change, false);
  return result;
}

BlockValue Transfer::remainder(const Code& code, int64_t divisor, Demands* demands) const {
  const BlockValue a = source(code, 0);
  if (a.kind != Kind::kLinear || divisor <= 0) return any_function(code);
  if (!a.is_fixed() && !Demands::can_ask(a.change, divisor)) return any_function(code);
  BlockValue result = BlockValue::fixed();
  if (!ptx::is_signed(code.type)) result.max = uint64_t(divisor) - 1;
  if (a.is_fixed() || demands == nullptr) return result;
  demands->no_wrap(0, a.change, code.type, true);
  demands->same_modulo(a.change, divisor);
  return result;
}

BlockValue Transfer::shift_right(const Code& code, Demands* demands) const {
  const BlockValue a = source(code, 0), by = operand(code.src[1], Type::kU32);
  if (a.kind != Kind::kLinear || !by.known || *by.known >= bits_of(code.type))
    return any_function(code);
  if (!a.is_fixed() && *by.known == bits_of(code.type) - 1) {
    if (demands != nullptr) demands->same_sign(0, a.change, code.type);
    return BlockValue::fixed();
  }
  if (*by.known > 40) return any_function(code);
  return divide(code, int64_t{1} << *by.known, demands);
}

// and: with a mask of low bits a matter of the phase; with a mask of all bits but low ones, the
// value less those bits, which stay the same within a phase.
BlockValue Transfer::mask(const Code& code, Demands* demands) const {
  BlockValue a = source(code, 0), m = source(code, 1);
  if (!m.known) std::swap(a, m);
  if (a.kind != Kind::kLinear || !m.known) return any_function(code);
  const uint64_t bits = *m.known;
  if (a.is_fixed()) {
    BlockValue result = BlockValue::fixed();
    if (a.known) return BlockValue::constant(*a.known & bits);
    result.max = std::min(bits, a.max);
    return result;
  }
  if (bits < uint64_t(kMaxModulus) &&
      keep_modulo(a.change, int64_t(std::bit_ceil(bits + 1)), demands)) {
    BlockValue result = BlockValue::fixed();
    result.max = bits;
    return result;
  }
  const int width = a.max == UINT64_MAX ? int(bits_of(code.type)) : int(std::bit_width(a.max));
  const uint64_t dropped = ~bits & (width == 64 ? UINT64_MAX : (uint64_t{1} << width) - 1);
  if ((dropped & (dropped + 1)) != 0 || dropped >= uint64_t(kMaxModulus) ||
      !keep_modulo(a.change, int64_t(dropped) + 1, demands))
    return any_function(code);
  BlockValue result = BlockValue::moving(a.change);
  result.max = a.max;
  return result;
}

// or, xor with a number below a power of two: within a phase the other operand's bits below that
// stay the same.
BlockValue Transfer::combine(const Code& code, Demands* demands) const {
  BlockValue a = source(code, 0), b = source(code, 1);
  if (a.is_fixed()) std::swap(a, b);
  if (a.kind != Kind::kLinear || !b.is_fixed() || a.is_fixed()) return any_function(code);
  const uint64_t largest = b.known ? *b.known : b.max;
  if (largest >= uint64_t(kMaxModulus)) return any_function(code);
  if (!keep_modulo(a.change, int64_t(std::bit_ceil(largest + 1)), demands))
    return any_function(code);
  return BlockValue::moving(a.change);
}

BlockValue Transfer::compare(const Code& code, Demands* demands) const {
  const Type type = code.op == Opcode::kSet ? code.src_type : code.type;
  const BlockValue a = operand(code.src[0], type), b = operand(code.src[1], type);
  const bool moves =
      a.kind == Kind::kLinear && b.kind == Kind::kLinear && !(a.is_fixed() && b.is_fixed());
  if (!moves || !is_integer(type)) return any_function(code);
  const auto difference = sum(a.change, b.change, -1);
  if (!difference) return BlockValue::bad(Kind::kOpaque);
  BlockValue rest = BlockValue::fixed();
  if (code.src.size() > 2) rest = operand(code.src[2], Type::kPred);
  if (rest.kind == Kind::kUnset || rest.kind > Kind::kLinear) return rest;
  if (demands == nullptr) return BlockValue::fixed();
  if (!a.is_fixed()) demands->no_wrap(0, a.change, type);
  if (!b.is_fixed()) demands->no_wrap(1, b.change, type);
  Watch w;
  w.kind = Watch::Kind::kCompare;
  w.cmp = code.cmp;
  w.type = type;
  w.a = 0;
  w.b = 1;
  w.den = difference->den;
  if (!difference->is_zero()) demands->needs.push_back({w, *difference});
  return BlockValue::fixed();
}

BlockValue Transfer::convert(const Code& code, Demands* demands) const {
  const Type from = code.src_type, to = code.type;
  if (!is_integer(from) || !is_integer(to) || code.sat) return any_function(code);
  if (ptx::size_bytes(to) > ptx::size_bytes(from)) return widen(code, 0, from, demands);
  BlockValue v = operand(code.src[0], from);
  if (v.known) v.known = cut(*v.known, to);
  if (v.max > UINT32_MAX) v.max = UINT64_MAX;
  return v;
}

BlockValue Transfer::loaded(const Code& code, size_t index) const {
  if (code.space == ptx::Space::kParam) {
    const Operand& from = code.src[0];
    const uint32_t bytes = ptx::size_bytes(code.type);
    const ptx::Function& kernel = context_.image->module.functions[size_t(context_.function)];
    const bool own = from.symbol >= 0 && std::find(kernel.params.begin(), kernel.params.end(),
                                                   from.symbol) != kernel.params.end();
    if (!own) return BlockValue::bad(Kind::kOpaque);  // the result of a call
    if (from.reg >= 0) {
      const BlockValue at = registers_[size_t(from.reg)];
      return at.kind == Kind::kUnset || at.is_fixed()
                 ? join(at, BlockValue::fixed())
                 : BlockValue::bad(std::max(at.kind, Kind::kOpaque));
    }
    const auto& variable = context_.image->module.variables[size_t(from.symbol)];
    const uint64_t offset = variable.param_offset_bytes + uint64_t(from.offset) + index * bytes;
    if (bytes < 4 || offset + bytes > context_.params.size()) return BlockValue::fixed();
    uint64_t value = 0;
    std::memcpy(&value, context_.params.data() + offset, bytes);
    return BlockValue::constant(value);
  }
  const BlockValue at = operand(code.src[0], Type::kB64);
  // Constant memory cannot change: the same address, the same value.
  if (code.space == ptx::Space::kConst && (at.kind == Kind::kUnset || at.is_fixed())) {
    return join(at, BlockValue::fixed());
  }
  return BlockValue::bad(Kind::kData);
}

BlockValue Transfer::result(const Code& code, Demands* demands) const {
  auto divisor = [&] {
    const BlockValue d = source(code, 1);
    return d.known ? number(*d.known, code.type) : int64_t{0};
  };
  using Result = ptx::OpcodeFacts::Result;
  const Result made_of = ptx::facts_of(code.op).result;
  if (made_of == Result::kOther) return BlockValue::bad(Kind::kOpaque);
  if (made_of == Result::kMemory &&
      ptx::facts_of(code.op).memory != ptx::OpcodeFacts::Memory::kLoad)
    return BlockValue::bad(Kind::kData);
  // clang-format off
  switch (code.op) {
    case Opcode::kLd: case Opcode::kLdu:      return loaded(code, 0);
    case Opcode::kCvta:                       return source_without_number(code);
    case Opcode::kIsspacep: {
      const BlockValue a = source(code, 0);
      return a.kind == Kind::kLinear ? BlockValue::fixed() : a;
    }
    case Opcode::kSelp: {
      const BlockValue p = operand(code.src[2], Type::kPred);
      if (p.kind == Kind::kUnset || p.is_fixed())
        return p.kind == Kind::kUnset ? p : join(source(code, 0), source(code, 1));
      return BlockValue::bad(std::max(p.kind, Kind::kOpaque));
    }
    // Which lane's value a lane gets is fixed: it moves as all of them do.
    case Opcode::kShfl:
      return operand(code.src[1], Type::kU32).is_fixed() && operand(code.src[2], Type::kU32).is_fixed()
                 ? join(source(code, 0), source(code, 0)) : any_function(code);
    case Opcode::kSetp: case Opcode::kSet:    return compare(code, demands);
    case Opcode::kCvt:                        return convert(code, demands);
    case Opcode::kMov:
      return code.dst[0].kind == Operand::Kind::kVector ? any_function(code) : source(code, 0);
    default: break;
  }
  if (!is_integer(code.type) || code.carry_out || code.sat) {
    const BlockValue v = any_function(code);
    return code.carry_out && v.is_fixed() ? BlockValue::bad(Kind::kOpaque) : v;
  }
  switch (code.op) {
    case Opcode::kAdd:                        return cut_to(add(code, 1), code.type);
    case Opcode::kSub:                        return cut_to(add(code, -1), code.type);
    case Opcode::kMul: case Opcode::kMad: {
      const bool wide = code.part == ptx::MulPart::kWide;
      return cut_to(multiply(code, demands), wide ? Type::kS64 : code.type);
    }
    case Opcode::kNeg: case Opcode::kNot: {
      const BlockValue a = source(code, 0);
      return a.kind == Kind::kLinear ? BlockValue::moving(times(a.change, -1)) : a;
    }
    case Opcode::kShl:                        return cut_to(shift_left(code), code.type);
    case Opcode::kShr:                        return shift_right(code, demands);
    case Opcode::kDiv:                        return divide(code, divisor(), demands);
    case Opcode::kRem:                        return remainder(code, divisor(), demands);
    case Opcode::kAnd:                        return mask(code, demands);
    case Opcode::kOr: case Opcode::kXor:      return combine(code, demands);
    default:                                  return any_function(code);
  }
  // clang-format on
}

}  // namespace warpsim::sample
