// Half precision, bfloat16 and numbers of eight bits. A result is first computed in the processor's
// 64-bit mantissas, rounded to odd, so that rounding once more gives what rounding the exact value
// gives; then the nearest of the 16-bit numbers is looked for.

#include "tests/oracle/ieee.h"

namespace oracle {

namespace {

struct Format {
  uint32_t infinity;  // its code
  int mantissa_bits, bias;
};

constexpr Format kHalf{0x7C00, 10, 15}, kBrain{0x7F80, 7, 127};
// Of eight bits; e4m3 has a NaN where another format's infinity is.
constexpr Format kE4M3{0x7F, 3, 7}, kE5M2{0x7C, 2, 15};

Format format_of(Type type) {
  return type == Type::kBF16 || type == Type::kBF16x2 ? kBrain : kHalf;
}

bool is_pair(Type type) {
  return type == Type::kF16x2 || type == Type::kBF16x2;
}

// Of a code without sign; infinity counts as the number that would follow the largest.
long double magnitude(Format f, uint32_t code) {
  int exponent = static_cast<int>(code >> f.mantissa_bits), hidden = exponent > 0;
  long double mantissa =
      (code & ((1u << f.mantissa_bits) - 1)) + (static_cast<uint32_t>(hidden) << f.mantissa_bits);
  return std::ldexp(mantissa, (hidden ? exponent : 1) - f.bias - f.mantissa_bits);
}

long double to_number(Format f, uint64_t bits) {
  uint32_t code = bits & 0x7FFF;
  long double value = code > f.infinity    ? std::numeric_limits<long double>::quiet_NaN()
                      : code == f.infinity ? std::numeric_limits<long double>::infinity()
                                           : magnitude(f, code);
  return bits & 0x8000 ? -value : value;
}

// Of a number without sign.
uint32_t nearest_code(Format f, long double v) {
  if (v >= magnitude(f, f.infinity)) return f.infinity;
  uint32_t below = 0, above = f.infinity;  // magnitude(below) <= v < magnitude(above)
  while (above - below > 1) {
    uint32_t middle = (below + above) / 2;
    (magnitude(f, middle) <= v ? below : above) = middle;
  }
  long double down = v - magnitude(f, below), up = magnitude(f, above) - v;
  bool take_above = up < down || (up == down && (above & 1) == 0);
  return take_above ? above : below;
}

uint64_t to_nearest(Format f, long double value) {
  if (std::isnan(value)) return 0x7FFF;
  return (std::signbit(value) ? 0x8000 : 0) | nearest_code(f, std::fabs(value));
}

// What is beyond the largest number becomes it.
uint64_t to_byte(Format f, long double value, bool relu) {
  if (std::isnan(value)) return 0x7F;
  if (relu && std::signbit(value)) return 0;
  return (std::signbit(value) ? 0x80 : 0) |
         std::min(nearest_code(f, std::fabs(value)), f.infinity - 1);
}

uint64_t half_of_byte(Type type, uint64_t byte, bool relu) {
  Format f = type == Type::kE4M3x2 ? kE4M3 : kE5M2;
  uint32_t code = byte & 0x7F;
  if (type == Type::kE4M3x2 ? code == 0x7F : code > f.infinity) return 0x7FFF;
  if (relu && (byte & 0x80)) return 0;
  long double value =
      code == f.infinity ? std::numeric_limits<long double>::infinity() : magnitude(f, code);
  return to_nearest(kHalf, byte & 0x80 ? -value : value);
}

// a * b + c, rounded to odd.
long double fused(long double a, long double b, long double c) {
  volatile long double product = a * b, addend = c;  // the product is exact
  std::feclearexcept(FE_INEXACT);
  volatile long double sum;
  {
    RoundingMode mode(Rounding::kRz);
    sum = product + addend;
  }
  long double result = sum;
  if (!std::fetestexcept(FE_INEXACT)) return result == 0 ? product + addend : result;
  int exponent = 0;
  long double mantissa = std::ldexp(std::frexp(result, &exponent), 64);
  bool odd = std::fmod(mantissa, 2.0L) != 0;
  if (!odd) mantissa += std::signbit(mantissa) ? -1 : 1;
  return std::ldexp(mantissa, exponent - 64);
}

uint64_t one(const Instruction& i, Format f, const Sources& s, int shift) {
  long double v[3] = {};
  for (size_t n = 0; n < s.size() && n < 3; ++n) v[n] = to_number(f, s[n] >> shift);
  switch (i.op) {
    case Opcode::kAdd:
      return to_nearest(f, fused(v[0], 1, v[1]));
    case Opcode::kSub:
      return to_nearest(f, fused(v[0], 1, -v[1]));
    case Opcode::kMul:
      return to_nearest(f, v[0] * v[1]);
    case Opcode::kFma:
      return to_nearest(f, fused(v[0], v[1], v[2]));
    default:
      not_covered(i);
  }
}

}  // namespace

uint64_t evaluate_half(const Instruction& i, const Sources& s) {
  if (i.sat || i.ftz || i.rounding > Rounding::kRn) not_covered(i);
  Format f = format_of(i.type);
  uint64_t low = one(i, f, s, 0);
  return is_pair(i.type) ? low | one(i, f, s, 16) << 16 : low;
}

// Between pairs of eight bits and f32 or f16x2.
uint64_t convert_bytes(const Instruction& i, const Sources& s) {
  if (i.type == Type::kF16x2)
    return half_of_byte(i.src_type, s[0] >> 8, i.relu) << 16 |
           half_of_byte(i.src_type, s[0], i.relu);
  Format f = i.type == Type::kE4M3x2 ? kE4M3 : kE5M2;
  auto number = [](uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); };
  long double high =
      i.src_type == Type::kF32 ? number(s[0]) : to_number(kHalf, s[0] >> 16 & 0xFFFF);
  long double low = i.src_type == Type::kF32 ? number(s[1]) : to_number(kHalf, s[0] & 0xFFFF);
  return to_byte(f, high, i.relu) << 8 | to_byte(f, low, i.relu);
}

// Between the 16-bit formats and f32 or f64.
uint64_t convert_half(const Instruction& i, const Sources& s) {
  if (i.sat || i.ftz || (i.rounding != Rounding::kNone && i.rounding != Rounding::kRn))
    not_covered(i);
  for (Type type : {i.type, i.src_type}) {
    if (type == Type::kE4M3x2 || type == Type::kE5M2x2) return convert_bytes(i, s);
  }
  if (i.relu || i.sat_finite) not_covered(i);
  auto number = [&](uint64_t bits) -> long double {
    if (i.src_type == Type::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (i.src_type == Type::kF64) return std::bit_cast<double>(bits);
    if (i.src_type == Type::kF16 || i.src_type == Type::kBF16)
      return to_number(format_of(i.src_type), bits);
    not_covered(i);
  };
  if (i.type == Type::kF32) return finish(i, static_cast<float>(number(s[0])));
  if (i.type == Type::kF64) return finish(i, static_cast<double>(number(s[0])));
  if (i.type == Type::kTF32 || !is_float(i.type)) not_covered(i);
  Format f = format_of(i.type);
  if (!is_pair(i.type)) return to_nearest(f, number(s[0]));
  return to_nearest(f, number(s[0])) << 16 |
         to_nearest(f, number(s[1]));  // the first goes to the upper half
}

}  // namespace oracle
