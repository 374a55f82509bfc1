// IEEE helpers shared by the oracle's floating-point arithmetic and conversions.

#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/oracle/arithmetic.h"

namespace oracle {

using namespace warpsim::ptx;

// Sets the processor's rounding mode while it lives.
class RoundingMode {
 public:
  explicit RoundingMode(Rounding rounding) : before_(std::fegetround()) {
    switch (rounding) {
      case Rounding::kRz:
        std::fesetround(FE_TOWARDZERO);
        break;
      case Rounding::kRm:
        std::fesetround(FE_DOWNWARD);
        break;
      case Rounding::kRp:
        std::fesetround(FE_UPWARD);
        break;
      default:
        std::fesetround(FE_TONEAREST);
        break;
    }
  }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

template <typename F>
F number(uint64_t bits) {
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<double>(bits);
}

template <typename F>
uint64_t bits_of(F value) {
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint64_t>(value);
}

template <typename F>
F flushed(F x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(F(0), x) : x;
}

// What PTX does to every result: single-precision NaNs have one pattern, .ftz, .sat.
template <typename F>
uint64_t finish(const Instruction& i, F value) {
  if (i.ftz) value = flushed(value);
  if (i.sat) {
    if (std::isnan(value) || value <= 0) return 0;
    if (value > 1) value = 1;
  }
  if (sizeof(F) == 4 && std::isnan(value)) return 0x7FFFFFFF;
  return bits_of(value);
}

}  // namespace oracle
