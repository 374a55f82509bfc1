// Integers as 128-bit numbers: every product of two 64-bit operands is exact.

#include "tests/oracle/arithmetic.h"
#include "tests/oracle/oracle.h"

namespace oracle {

using namespace warpsim::ptx;

void not_covered(const Instruction& i) {
  throw Undefined("the oracle does not cover " + i.mnemonic);
}

uint64_t cut(uint64_t bits, uint32_t bytes) {
  return bytes >= 8 ? bits : bits & ((uint64_t{1} << (8 * bytes)) - 1);
}

__int128 value_of(Type type, uint64_t bits) {
  uint32_t bytes = size_bytes(type);
  bits = cut(bits, bytes);
  bool negative = is_signed(type) && (bits >> (8 * bytes - 1) & 1);
  __int128 value = bits;
  if (negative) value -= static_cast<__int128>(1) << (8 * bytes);
  return value;
}

namespace {

using Wide = __int128;

// The product as an unsigned 128-bit pattern, which is right for both signs.
unsigned __int128 product(Wide a, Wide b) {
  return static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b);
}

uint64_t multiply(const Instruction& i, Wide a, Wide b) {
  uint32_t width = size_bytes(i.type);
  if (i.part == MulPart::kWide) return cut(static_cast<uint64_t>(product(a, b)), 2 * width);
  if (i.part == MulPart::kLo) return cut(static_cast<uint64_t>(product(a, b)), width);
  return cut(static_cast<uint64_t>(product(a, b) >> (8 * width)), width);
}

// The lower 24 bits of each operand; .lo and .hi are the lower and the upper 32 of the 48 bits.
uint64_t multiply24(const Instruction& i, uint64_t a, uint64_t b) {
  auto low = [&](uint64_t x) -> Wide {
    Wide v = x & 0xFFFFFF;
    return is_signed(i.type) && (v >> 23 & 1) ? v - (1 << 24) : v;
  };
  auto full = product(low(a), low(b));
  return cut(static_cast<uint64_t>(i.part == MulPart::kHi ? full >> 16 : full), 4);
}

uint64_t saturated32(Wide value) {
  if (value > INT32_MAX) return INT32_MAX;
  if (value < INT32_MIN) return uint32_t{1} << 31;
  return cut(static_cast<uint64_t>(value), 4);
}

// Division by zero has no result by the text; the GPU's code gives all ones and, for rem, the
// dividend.
Wide divide(Wide a, Wide b) {
  return b == 0 ? -1 : a / b;
}
Wide remainder(Wide a, Wide b) {
  return b == 0 ? a : a % b;
}

uint64_t dot_product(const Instruction& i, const Sources& s) {
  int count = i.op == Opcode::kDp4a ? 4 : 2;
  Type a_part = i.op == Opcode::kDp4a ? (is_signed(i.type) ? Type::kS8 : Type::kU8)
                                      : (is_signed(i.type) ? Type::kS16 : Type::kU16);
  Type b_part = is_signed(i.src_type) ? Type::kS8 : Type::kU8;
  int b_first = i.op == Opcode::kDp2a && i.part == MulPart::kHi ? 2 : 0;
  Wide sum = value_of(Type::kU32, s[2]);
  for (int n = 0; n < count; ++n) {
    sum += value_of(a_part, s[0] >> (8 * size_bytes(a_part) * n)) *
           value_of(b_part, s[1] >> (8 * (n + b_first)));
  }
  return cut(static_cast<uint64_t>(sum), 4);
}

// a + b + c with the carry flag: the carry out of the top bit. A subtraction is the sum of a, what
// b is not, and 1, or the flag; see warpsim/exec/ops_carry.cpp.
uint64_t with_carry(const Instruction& i, uint64_t a, uint64_t b, bool* carry) {
  uint32_t width = size_bytes(i.type);
  bool subtract = i.op == Opcode::kSub || i.op == Opcode::kSubc;
  bool uses = i.op == Opcode::kAddc || i.op == Opcode::kSubc || i.op == Opcode::kMadc;
  Wide x = cut(a, width), y = cut(subtract ? ~b : b, width);
  Wide sum = x + y + (uses ? (*carry ? 1 : 0) : subtract ? 1 : 0);
  if (i.carry_out) *carry = sum >> (8 * width) & 1;
  return cut(static_cast<uint64_t>(sum), width);
}

}  // namespace

uint64_t evaluate_integer(const Instruction& i, const Sources& s, bool* carry) {
  uint32_t width = size_bytes(i.type);
  Wide a = value_of(i.type, s[0]), b = s.size() > 1 ? value_of(i.type, s[1]) : 0;
  auto fit = [&](Wide value) { return cut(static_cast<uint64_t>(value), width); };
  switch (i.op) {
    case Opcode::kAdd:
    case Opcode::kSub:
      if (i.sat) return saturated32(i.op == Opcode::kAdd ? a + b : a - b);
      return with_carry(i, s[0], s[1], carry);
    case Opcode::kAddc:
    case Opcode::kSubc:
      return with_carry(i, s[0], s[1], carry);
    case Opcode::kMul:
      return multiply(i, a, b);
    case Opcode::kMad: {
      if (i.sat) not_covered(i);
      uint64_t p = multiply(i, a, b);
      if (i.carry_out) return with_carry(i, p, s[2], carry);
      return cut(p + s[2], i.part == MulPart::kWide ? 2 * width : width);
    }
    case Opcode::kMadc:
      return with_carry(i, multiply(i, a, b), s[2], carry);
    case Opcode::kMul24:
      return multiply24(i, s[0], s[1]);
    case Opcode::kMad24:
      return cut(multiply24(i, s[0], s[1]) + s[2], 4);
    case Opcode::kDiv:
      return fit(divide(a, b));
    case Opcode::kRem:
      return fit(remainder(a, b));
    case Opcode::kAbs:
      return fit(a < 0 ? -a : a);
    case Opcode::kNeg:
      return fit(-a);
    case Opcode::kMin:
      return fit(a < b ? a : b);
    case Opcode::kMax:
      return fit(a > b ? a : b);
    case Opcode::kSad:
      return fit((a < b ? b - a : a - b) + value_of(i.type, s[2]));
    case Opcode::kDp4a:
    case Opcode::kDp2a:
      return dot_product(i, s);
    default:
      not_covered(i);
  }
}

uint64_t atomic_result(const Instruction& i, uint64_t old, const Sources& s) {
  Wide a = value_of(i.type, old), b = value_of(i.type, s[0]);
  auto fit = [&](Wide value) { return cut(static_cast<uint64_t>(value), size_bytes(i.type)); };
  switch (i.atom) {
    case AtomOp::kAdd: {
      if (!is_float(i.type)) return fit(a + b);
      Instruction add;
      add.op = Opcode::kAdd;
      add.type = i.type;
      add.mnemonic = i.mnemonic;
      return evaluate_float(add, {old, s[0]});
    }
    case AtomOp::kMin:
      return fit(a < b ? a : b);
    case AtomOp::kMax:
      return fit(a > b ? a : b);
    case AtomOp::kInc:
      return fit(a >= b ? 0 : a + 1);
    case AtomOp::kDec:
      return fit(a == 0 || a > b ? b : a - 1);
    case AtomOp::kAnd:
      return fit(a & b);
    case AtomOp::kOr:
      return fit(a | b);
    case AtomOp::kXor:
      return fit(a ^ b);
    case AtomOp::kExch:
      return fit(b);
    case AtomOp::kCas:
      return a == b ? fit(value_of(i.type, s[1])) : fit(a);
    default:
      not_covered(i);
  }
}

}  // namespace oracle
