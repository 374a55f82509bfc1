// How a value changes from one thread block to the next, as far as that is known.
//
// A Linear says: when the block index moves by D = (dx, dy, dz), the value moves by
// (c . D) / den, in every lane alike. The division comes from shifts and divisions of block
// indices; it has no remainder among the blocks that are compared (see Phase in region.h).

#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>

namespace warpsim::sample {

using Vector = std::array<int64_t, 3>;  // per blockIdx.x, y, z

struct Linear {
  Vector c{};
  int64_t den = 1;  // > 0

  bool is_zero() const { return c == Vector{}; }
  bool operator==(const Linear&) const = default;
};

// Lowest terms; the factors of a 32-bit value matter modulo 2^32 only.
inline Linear reduced(Linear a, bool is_32_bit) {
  if (a.den == 1) {
    if (is_32_bit) {
      for (int64_t& c : a.c) c = int32_t(uint32_t(uint64_t(c)));
    }
    return a;
  }
  const int64_t g = std::gcd(std::gcd(a.c[0], a.c[1]), std::gcd(a.c[2], a.den));
  for (int64_t& c : a.c) c /= g;
  a.den /= g;
  return a;
}

// The results below are empty where a factor would not fit.
inline std::optional<Linear> times(Linear a, int64_t factor) {
  for (int64_t& c : a.c) {
    if (__builtin_mul_overflow(c, factor, &c)) return {};
  }
  return reduced(a, false);
}

inline std::optional<Linear> sum(const Linear& a, const Linear& b, int64_t sign = 1) {
  Linear result;
  result.den = std::lcm(a.den, b.den);
  for (size_t i = 0; i < 3; ++i) {
    int64_t left, right;
    if (__builtin_mul_overflow(a.c[i], result.den / a.den, &left) ||
        __builtin_mul_overflow(b.c[i], sign * (result.den / b.den), &right) ||
        __builtin_add_overflow(left, right, &result.c[i]))
      return {};
  }
  return reduced(result, false);
}

// What is known of a register, over all its definitions and all the blocks that take the same path
// through the kernel.
struct BlockValue {
  enum class Kind : uint8_t {
    kUnset,   // no definition seen yet
    kLinear,  // moves with the block index by `change`
    kOpaque,  // depends on the block index in some other way
    kData,    // depends on what was read from memory
  };
  Kind kind = Kind::kUnset;
  Linear change;
  std::optional<uint64_t> known;  // the same number in all threads, always: a parameter, a literal
  uint64_t max = UINT64_MAX;      // unsigned upper bound of what lanes hold

  bool operator==(const BlockValue&) const = default;
  bool is_fixed() const { return kind == Kind::kLinear && change.is_zero(); }

  static BlockValue fixed() { return {Kind::kLinear, {}, {}, UINT64_MAX}; }
  static BlockValue constant(uint64_t value) { return {Kind::kLinear, {}, value, value}; }
  static BlockValue moving(std::optional<Linear> by) {
    return by ? BlockValue{Kind::kLinear, *by, {}, UINT64_MAX} : BlockValue{Kind::kOpaque, {}, {}};
  }
  static BlockValue bad(Kind kind) { return {kind, {}, {}, UINT64_MAX}; }
};

// Either of the two.
inline BlockValue join(const BlockValue& a, const BlockValue& b) {
  using Kind = BlockValue::Kind;
  if (a.kind == Kind::kUnset) return b;
  if (b.kind == Kind::kUnset) return a;
  if (a.kind != Kind::kLinear || b.kind != Kind::kLinear)
    return BlockValue::bad(std::max(a.kind, b.kind));
  if (a.change != b.change) return BlockValue::bad(Kind::kOpaque);
  BlockValue result = a;
  if (a.known != b.known) result.known.reset();
  if (a.max != b.max) result.max = UINT64_MAX;
  return result;
}

}  // namespace warpsim::sample
