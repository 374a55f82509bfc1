// cvt, the selecting opcodes, and the choice of the family an opcode belongs to.

#include "tests/oracle/ieee.h"

namespace oracle {

namespace {

// The integral number that `x` rounds to. Exact: both have at most 64 significant bits.
long double to_integral(Rounding rounding, long double x) {
  switch (rounding) {
    case Rounding::kRzi:
      return std::trunc(x);
    case Rounding::kRmi:
      return std::floor(x);
    case Rounding::kRpi:
      return std::ceil(x);
    default:
      return std::nearbyint(x);  // the default mode: to nearest, ties to even
  }
}

// Saturates to the type's range. A NaN is 0, or the highest bit alone where f64 or 64-bit integers
// take part.
uint64_t float_to_integer(const Instruction& i, long double x) {
  uint32_t bytes = size_bytes(i.type);
  if (std::isnan(x)) {
    bool high_bit = i.src_type == Type::kF64 || bytes == 8;
    return high_bit ? uint64_t{1} << (8 * bytes - 1) : 0;
  }
  long double value = to_integral(i.rounding, x);
  long double end = std::ldexp(1.0L, static_cast<int>(8 * bytes) - (is_signed(i.type) ? 1 : 0));
  long double low = is_signed(i.type) ? -end : 0;
  if (value < low) value = low;
  if (value >= end)
    return is_signed(i.type) ? cut(~uint64_t{0}, bytes) >> 1 : cut(~uint64_t{0}, bytes);
  return value < 0 ? cut(static_cast<uint64_t>(static_cast<int64_t>(value)), bytes)
                   : static_cast<uint64_t>(value);
}

// To the nearest F in the rounding mode; `x` is exact.
template <typename F>
F round_to(Rounding rounding, long double x) {
  volatile long double exact = x;
  RoundingMode mode(rounding);
  volatile F result = static_cast<F>(exact);
  return result;
}

long double source_value(const Instruction& i, uint64_t a) {
  if (i.src_type == Type::kF64) return number<double>(a);
  if (i.src_type == Type::kF32) return i.ftz ? flushed(number<float>(a)) : number<float>(a);
  return static_cast<long double>(value_of(i.src_type, a));
}

bool rounds_to_integral(Rounding r) {
  return r == Rounding::kRni || r == Rounding::kRzi || r == Rounding::kRmi || r == Rounding::kRpi;
}

uint64_t integer_to_integer(const Instruction& i, uint64_t a) {
  __int128 value = value_of(i.src_type, a);
  uint32_t bytes = size_bytes(i.type);
  if (i.sat) {
    __int128 one = 1;
    __int128 low = is_signed(i.type) ? -(one << (8 * bytes - 1)) : 0;
    __int128 high = (one << (8 * bytes - (is_signed(i.type) ? 1 : 0))) - 1;
    value = value < low ? low : value > high ? high : value;
  }
  return cut(static_cast<uint64_t>(value), bytes);
}

}  // namespace

uint64_t evaluate_convert(const Instruction& i, const Sources& s) {
  for (Type type : {i.type, i.src_type}) {
    if (is_float(type) && type != Type::kF32 && type != Type::kF64) return convert_half(i, s);
  }
  bool from_float = is_float(i.src_type), to_float = is_float(i.type);
  if (!from_float && !to_float) return integer_to_integer(i, s[0]);
  long double value = source_value(i, s[0]);
  if (!to_float) return float_to_integer(i, value);
  // The processor's own widening keeps a NaN's payload as a GPU's does.
  if (i.type == Type::kF64 && i.src_type == Type::kF64 && !rounds_to_integral(i.rounding))
    return s[0];
  if (rounds_to_integral(i.rounding)) {
    long double rounded = to_integral(i.rounding, value);
    value = std::copysign(rounded, value);
  }
  if (i.type == Type::kF32) return finish(i, round_to<float>(i.rounding, value));
  return finish(i, round_to<double>(i.rounding, value));
}

uint64_t evaluate(const Instruction& i, const Sources& s, bool* carry) {
  switch (i.op) {
    case Opcode::kCvt:
      return evaluate_convert(i, s);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kCnot:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kShf:
    case Opcode::kBfe:
    case Opcode::kBfi:
    case Opcode::kBfind:
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBrev:
    case Opcode::kPrmt:
    case Opcode::kLop3:
    case Opcode::kFns:
      return evaluate_bits(i, s);
    case Opcode::kSelp:
      return s[2] & 1 ? s[0] : s[1];
    case Opcode::kSlct: {
      if (i.src_type == Type::kF32) {
        float c = number<float>(s[2]);
        return (i.ftz ? flushed(c) : c) >= 0 ? s[0] : s[1];
      }
      return value_of(Type::kS32, s[2]) >= 0 ? s[0] : s[1];
    }
    case Opcode::kSet: {
      bool holds =
          combine(i.bool_op, compare(i, i.src_type, s[0], s[1]), s.size() > 2 && (s[2] & 1));
      if (!holds) return 0;
      return i.type == Type::kF32 ? 0x3F800000 : cut(~uint64_t{0}, size_bytes(i.type));
    }
    default:
      break;
  }
  return is_float(i.type) ? evaluate_float(i, s) : evaluate_integer(i, s, carry);
}

}  // namespace oracle
