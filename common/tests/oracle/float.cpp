// Floating point by the processor's own IEEE arithmetic, one operation at a time, in the rounding
// mode the instruction asks for. Compiled with -frounding-math; operands and results pass through
// volatile variables, so that no operation is moved out of the rounding mode or combined with
// another.

#include "tests/oracle/ieee.h"

namespace oracle {

using namespace warpsim::ptx;

namespace {

template <typename F>
F arithmetic(const Instruction& i, F a, F b, F c) {
  volatile F x = a, y = b, z = c, result = 0;
  RoundingMode mode(i.rounding);
  switch (i.op) {
    case Opcode::kAdd:
      result = x + y;
      break;
    case Opcode::kSub:
      result = x - y;
      break;
    case Opcode::kMul:
      result = x * y;
      break;
    case Opcode::kMad:
    case Opcode::kFma:
      result = std::fma(static_cast<F>(x), static_cast<F>(y), static_cast<F>(z));
      break;
    case Opcode::kDiv:
      result = x / y;
      break;
    case Opcode::kRcp:
      result = F(1) / x;
      break;
    case Opcode::kSqrt:
      result = std::sqrt(static_cast<F>(x));
      break;
    default:
      not_covered(i);
  }
  return result;
}

// The smaller or larger operand; a NaN loses against a number unless .NaN; -0 is smaller than +0.
template <typename F>
F min_max(const Instruction& i, F a, F b) {
  bool max = i.op == Opcode::kMax;
  if (std::isnan(a) || std::isnan(b)) {
    if (i.nan) return std::numeric_limits<F>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) == max ? b : a;
  return (a < b) == max ? b : a;
}

template <typename F>
uint64_t evaluate(const Instruction& i, const Sources& s) {
  F v[3] = {};
  for (size_t n = 0; n < s.size() && n < 3; ++n) {
    v[n] = number<F>(s[n]);
    if (i.ftz) v[n] = flushed(v[n]);
  }
  switch (i.op) {
    case Opcode::kNeg:
      return finish(i, -v[0]);
    case Opcode::kAbs:
      return finish(i, std::fabs(v[0]));
    case Opcode::kMin:
    case Opcode::kMax:
      return finish(i, min_max(i, v[0], v[1]));
    case Opcode::kCopysign:
      return bits_of(std::copysign(v[1], v[0]));
    default:
      return finish(i, arithmetic(i, v[0], v[1], v[2]));
  }
}

template <typename F>
bool relation(CmpOp op, F a, F b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (op) {
    case CmpOp::kEq:
      return !unordered && a == b;
    case CmpOp::kNe:
      return !unordered && a != b;
    case CmpOp::kLt:
      return !unordered && a < b;
    case CmpOp::kLe:
      return !unordered && a <= b;
    case CmpOp::kGt:
      return !unordered && a > b;
    case CmpOp::kGe:
      return !unordered && a >= b;
    case CmpOp::kEqu:
      return unordered || a == b;
    case CmpOp::kNeu:
      return unordered || a != b;
    case CmpOp::kLtu:
      return unordered || a < b;
    case CmpOp::kLeu:
      return unordered || a <= b;
    case CmpOp::kGtu:
      return unordered || a > b;
    case CmpOp::kGeu:
      return unordered || a >= b;
    case CmpOp::kNum:
      return !unordered;
    case CmpOp::kNan:
      return unordered;
    default:
      return false;
  }
}

bool integer_relation(const Instruction& i, Type type, uint64_t a, uint64_t b) {
  bool is_unsigned =
      i.cmp == CmpOp::kLo || i.cmp == CmpOp::kLs || i.cmp == CmpOp::kHi || i.cmp == CmpOp::kHs;
  auto value = [&](uint64_t bits) {
    return is_unsigned ? static_cast<__int128>(cut(bits, size_bytes(type))) : value_of(type, bits);
  };
  __int128 x = value(a), y = value(b);
  switch (i.cmp) {
    case CmpOp::kEq:
      return x == y;
    case CmpOp::kNe:
      return x != y;
    case CmpOp::kLo:
    case CmpOp::kLt:
      return x < y;
    case CmpOp::kLs:
    case CmpOp::kLe:
      return x <= y;
    case CmpOp::kHi:
    case CmpOp::kGt:
      return x > y;
    case CmpOp::kHs:
    case CmpOp::kGe:
      return x >= y;
    default:
      not_covered(i);
  }
}

}  // namespace

uint64_t evaluate_float(const Instruction& i, const Sources& s) {
  if (i.type == Type::kF32) return evaluate<float>(i, s);
  if (i.type == Type::kF64) return evaluate<double>(i, s);
  return evaluate_half(i, s);
}

bool compare(const Instruction& i, Type type, uint64_t a, uint64_t b) {
  if (type == Type::kF64) return relation(i.cmp, number<double>(a), number<double>(b));
  if (type != Type::kF32) return integer_relation(i, type, a, b);
  float x = number<float>(a), y = number<float>(b);
  return i.ftz ? relation(i.cmp, flushed(x), flushed(y)) : relation(i.cmp, x, y);
}

bool combine(BoolOp op, bool result, bool other) {
  switch (op) {
    case BoolOp::kAnd:
      return result && other;
    case BoolOp::kOr:
      return result || other;
    case BoolOp::kXor:
      return result != other;
    case BoolOp::kNone:
      break;
  }
  return result;
}

bool test_property(const Instruction& i, uint64_t a) {
  int kind =
      i.type == Type::kF64 ? std::fpclassify(number<double>(a)) : std::fpclassify(number<float>(a));
  switch (i.testp) {
    case TestpOp::kFinite:
      return kind != FP_INFINITE && kind != FP_NAN;
    case TestpOp::kInfinite:
      return kind == FP_INFINITE;
    case TestpOp::kNumber:
      return kind != FP_NAN;
    case TestpOp::kNotanumber:
      return kind == FP_NAN;
    case TestpOp::kNormal:
      return kind == FP_NORMAL;
    case TestpOp::kSubnormal:
      return kind == FP_SUBNORMAL;
    case TestpOp::kNone:
      break;
  }
  return false;
}

}  // namespace oracle
