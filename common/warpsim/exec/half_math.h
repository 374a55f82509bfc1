// The two 16-bit formats as numbers: what a code stands for, and the code a number is rounded to.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "warpsim/exec/float_math.h"
#include "warpsim/ptx/ir.h"

namespace warpsim::math {

// f16 and bf16, to the nearest (ops_half.cpp).
struct Half {
  static constexpr int kMantissa = 10, kLowest = -24;  // 2^kLowest: the smallest subnormal number
  static constexpr uint16_t kInfinity = 0x7C00, kOne = 0x3C00;
  static double get(uint16_t x);
  static uint16_t put(double x);
};
struct Brain {
  static constexpr int kMantissa = 7, kLowest = -133;
  static constexpr uint16_t kInfinity = 0x7F80, kOne = 0x3F80;
  static double get(uint16_t x) { return bf16_to_float(x); }
  static uint16_t put(double x);
};

// Both without a branch, so that the compiler takes several lanes at once.
inline double Half::get(uint16_t x) {
  constexpr uint32_t kFirstSpecial = 31u << 23;  // infinity
  const uint32_t magnitude = uint32_t(x & 0x7FFF) << 13;
  const float number = std::bit_cast<float>(magnitude) * 0x1p112f;  // exact
  const uint32_t special = magnitude >= kFirstSpecial ? 0x7F800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(number) | special |
                              uint32_t(x & 0x8000) << 16);
}
inline uint16_t Half::put(double x) {
  constexpr uint64_t kLeastNormal = std::bit_cast<uint64_t>(0x1p-14);
  constexpr uint64_t kTooLarge = std::bit_cast<uint64_t>(65520.0);
  constexpr uint64_t kInfinite = uint64_t{0x7FF} << 52;
  constexpr int kDropped = 52 - kMantissa;  // bits
  const uint64_t all = std::bit_cast<uint64_t>(x);
  const uint64_t magnitude = all & (UINT64_MAX >> 1);
  const uint64_t moved = magnitude - (uint64_t{1023 - 15} << 52);  // the exponent
  const uint64_t normal =
      (moved + (uint64_t{1} << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1)) >> kDropped;
  // The last bit of 2^28 as a double is worth 2^-24.
  const uint64_t subnormal = std::bit_cast<uint64_t>(std::bit_cast<double>(magnitude) + 0x1p28) -
                             std::bit_cast<uint64_t>(0x1p28);
  uint64_t code = magnitude < kLeastNormal ? subnormal : normal;
  code = magnitude >= kTooLarge ? kInfinity : code;
  code |= all >> 48 & 0x8000;
  return uint16_t(magnitude > kInfinite ? 0x7FFF : code);
}

template <class N>
inline bool is_nan16(uint32_t x) {
  return (x & 0x7FFF) > N::kInfinity;
}
inline constexpr uint16_t kNan16 = 0x7FFF;

// What becomes of a result: saturated to [0, 1] (NaN to 0), its negative values to 0, or what is
// beyond the largest number to it.
enum class After16 : uint8_t { kNothing, kSat, kRelu, kSatFinite, kReluSatFinite };
template <class N>
inline uint16_t finish16(uint16_t x, After16 how) {
  if (how == After16::kSat)
    return is_nan16<N>(x) || (x & 0x8000) != 0 ? uint16_t(0) : std::min(x, N::kOne);
  if (is_nan16<N>(x)) return x;
  const bool is_finite = how == After16::kSatFinite || how == After16::kReluSatFinite;
  if ((how == After16::kRelu || how == After16::kReluSatFinite) && (x & 0x8000) != 0) return 0;
  return is_finite && (x & 0x7FFF) == N::kInfinity ? uint16_t(x - 1) : x;
}

// Any rounding. `value` is exact or was rounded to odd with some bits to spare.
template <class N>
inline uint16_t round16(double value, ptx::Rounding how) {
  if (value != value) return kNan16;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | N::kInfinity;
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - N::kMantissa - 1, N::kLowest);
  const double scaled = std::ldexp(magnitude, -unit);
  const bool up = how == (sign != 0 ? ptx::Rounding::kRm : ptx::Rounding::kRp);
  const bool nearest = how == ptx::Rounding::kRn || how == ptx::Rounding::kNone;
  const double whole = nearest ? std::nearbyint(scaled)
                       : up    ? std::ceil(scaled)
                               : std::floor(scaled);
  const uint64_t code = (uint64_t(unit - N::kLowest) << N::kMantissa) + uint64_t(whole);
  if (code < N::kInfinity) return sign | uint16_t(code);
  return sign | uint16_t(nearest || up ? N::kInfinity : N::kInfinity - 1);
}

// An integer as a double; what does not fit is rounded to odd.
inline double odd_double(uint64_t magnitude, bool negative) {
  const int spare = 64 - 53 - __builtin_clzll(magnitude | 1);
  double value = double(magnitude);
  if (spare > 0) {
    const uint64_t lost = magnitude & ((uint64_t{1} << spare) - 1);
    value = std::ldexp(double(magnitude >> spare | uint64_t{lost != 0}), spare);
  }
  return negative ? -value : value;
}

}  // namespace warpsim::math
