#include "warpsim/exec/tensor_math.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace warpsim {

namespace {

using ptx::Type;
using NumberKind = TensorNumber::Kind;

struct Format {
  int exponent_bits, fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

Format format_of(Type type) {
  switch (type) {
    case Type::kF16:
      return {5, 10};
    case Type::kBF16:
      return {8, 7};
    case Type::kTF32:
      return {8, 10};
    default:
      return {8, 23};
  }
}

// The bits of sum * 2^exponent. What a number of this size is made of: `unit` is the exponent of
// its last bit.
uint32_t to_float(int64_t sum, int exponent) {
  const uint32_t sign = sum < 0 ? 0x80000000 : 0;
  const auto magnitude = uint64_t(std::llabs(sum));
  if (magnitude == 0) return 0;
  const int top = std::bit_width(magnitude) - 1 + exponent;
  if (top > 127) return sign | 0x7F800000;
  const int unit = std::max(top - 23, -149), shift = unit - exponent;
  const uint64_t kept = shift <= 0 ? magnitude << -shift : shift < 64 ? magnitude >> shift : 0;
  if (kept == 0) return 0;  // never -0
  return sign | uint32_t(unit == -149 ? kept : (uint64_t(unit + 149) << 23) + kept);
}

uint32_t to_half(int64_t sum, int exponent) {
  const uint32_t sign = sum < 0 ? 0x8000 : 0;
  const auto magnitude = uint64_t(std::llabs(sum));
  if (magnitude == 0) return 0;
  const int top = std::bit_width(magnitude) - 1 + exponent;
  const int unit = std::max(top - 10, -24), shift = unit - exponent;
  uint64_t kept = 0;
  if (shift <= 0) {
    kept = magnitude << -shift;
  } else if (shift < 63) {
    const uint64_t rest = magnitude & ((uint64_t{1} << shift) - 1),
                   half = uint64_t{1} << (shift - 1);
    kept = magnitude >> shift;
    kept += rest > half || (rest == half && (kept & 1) != 0);
  }
  if (kept == 0) return 0;
  // A carry into the next exponent is right by itself.
  const uint64_t bits = unit == -24 ? kept : (uint64_t(unit + 24) << 10) + kept;
  return sign | uint32_t(std::min<uint64_t>(bits, 0x7C00));
}

}  // namespace

TensorRules tensor_rules(const Device& device) {
  const int capability = device.cc_major * 10 + device.cc_minor;
  if (capability < 75) return {23, 8};
  if (capability < 90) return {24, 16};
  return {25, 32};
}

TensorNumber tensor_number(Type type, uint32_t bits) {
  const Format format = format_of(type);
  if (type == Type::kTF32) bits >>= 13;
  const int width = format.exponent_bits + format.fraction_bits;
  const auto fraction = int32_t(bits & ((1u << format.fraction_bits) - 1));
  const auto exponent = int32_t(bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1));
  const bool negative = (bits >> width & 1) != 0;
  TensorNumber number;
  if (exponent == (1 << format.exponent_bits) - 1) {
    number.kind = fraction != 0 ? NumberKind::kNan : NumberKind::kInfinite;
    number.significand = negative ? -1 : 1;
    return number;
  }
  const int32_t significand = exponent != 0 ? fraction | 1 << format.fraction_bits : fraction;
  number.significand = negative ? -significand : significand;
  number.exponent = std::max(exponent, 1) - format.bias();
  return number;
}

namespace {

// A product, or the sum so far: significand * 2^(exponent - fraction bits).
struct Term {
  int64_t significand;
  int exponent, fraction_bits;
};

uint32_t add_group(const TensorRules& rules, Type factors, Type sums, const TensorNumber* a,
                   const TensorNumber* b, int count, uint32_t c_bits) {
  const bool is_half = sums == Type::kF16;
  const uint32_t nan = is_half ? 0x7FFF : 0x7FFFFFFF;
  const TensorNumber c = tensor_number(sums, c_bits);
  constexpr int kMost = 17;
  std::array<Term, kMost> terms;
  int size = 0, largest = (is_half ? -21 : -133) + 25 - rules.fraction_bits;
  bool infinite[2] = {c.kind == NumberKind::kInfinite && c.significand > 0,
                      c.kind == NumberKind::kInfinite && c.significand < 0};
  if (c.kind == NumberKind::kNan) return nan;
  const int product_bits = 2 * format_of(factors).fraction_bits;
  for (int i = 0; i < count; ++i) {
    const TensorNumber &x = a[i], &y = b[i];
    if (x.kind != NumberKind::kFinite || y.kind != NumberKind::kFinite) {
      if (x.kind == NumberKind::kNan || y.kind == NumberKind::kNan || x.significand == 0 ||
          y.significand == 0)
        return nan;
      infinite[(x.significand < 0) != (y.significand < 0)] = true;
      continue;
    }
    const int64_t product = int64_t{x.significand} * y.significand;
    if (product == 0) continue;
    terms[size_t(size++)] = {product, x.exponent + y.exponent, product_bits};
    largest = std::max(largest, x.exponent + y.exponent);
  }
  if (infinite[0] && infinite[1]) return nan;
  if (infinite[0] || infinite[1])
    return is_half ? (infinite[1] ? 0xFC00 : 0x7C00) : (infinite[1] ? 0xFF800000 : 0x7F800000);
  if (c.significand != 0) {
    terms[size_t(size++)] = {c.significand, c.exponent, format_of(sums).fraction_bits};
    largest = std::max(largest, c.exponent);
  }
  int64_t sum = 0;
  for (int i = 0; i < size; ++i) {
    const Term& t = terms[size_t(i)];
    const int shift = rules.fraction_bits - t.fraction_bits + t.exponent - largest;
    const auto magnitude = uint64_t(std::llabs(t.significand));
    const auto kept = int64_t(shift >= 0    ? magnitude << shift
                              : shift > -64 ? magnitude >> -shift
                                            : 0);
    sum += t.significand < 0 ? -kept : kept;
  }
  const int exponent = largest - rules.fraction_bits;
  return is_half ? to_half(sum, exponent) : to_float(sum, exponent);
}

}  // namespace

uint32_t tensor_dot(const TensorRules& rules, Type factors, Type sums, const TensorNumber* a,
                    const TensorNumber* b, int count, uint32_t c) {
  const int group = rules.group_bytes / (factors == Type::kTF32 ? 4 : 2);
  for (int first = 0; first < count; first += group)
    c = add_group(rules, factors, sums, a + first, b + first, std::min(group, count - first), c);
  return c;
}

}  // namespace warpsim
