// cvt between pairs of 8-bit numbers, e4m3 or e5m2, and f32 or f16x2. The first of two sources, and
// the upper half of a pair, is the upper byte.

#include <algorithm>
#include <cmath>

#include "warpsim/exec/half_math.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::Type;

// e4m3 has no infinity, and one NaN of each sign.
struct E4M3 {
  static constexpr int kMantissa = 3, kLowest = -9;  // 2^kLowest: the smallest subnormal number
  static constexpr uint32_t kLargest = 0x7E;
  static constexpr bool kHasInfinity = false;
};
struct E5M2 {
  static constexpr int kMantissa = 2, kLowest = -16;
  static constexpr uint32_t kLargest = 0x7B;
  static constexpr bool kHasInfinity = true;
};
constexpr uint32_t kNanByte = 0x7F;

// To the nearest, ties to even; what is beyond the largest number becomes it.
template <class N, bool kRelu>
uint32_t byte_of(double value) {
  if (value != value) return kNanByte;
  const uint32_t sign = std::signbit(value) ? 0x80 : 0;
  if (kRelu && sign != 0) return 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | N::kLargest;
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - N::kMantissa - 1, N::kLowest);
  const uint64_t whole = uint64_t(std::nearbyint(std::ldexp(magnitude, -unit)));
  const uint64_t code = (uint64_t(unit - N::kLowest) << N::kMantissa) + whole;
  return sign | uint32_t(std::min<uint64_t>(code, N::kLargest));
}

// Every number of eight bits is one of f16.
template <class N, bool kRelu>
uint32_t half_of(uint32_t byte) {
  const uint32_t magnitude = byte & 0x7F;
  const uint32_t infinity = N::kLargest + 1;
  if (magnitude > (N::kHasInfinity ? infinity : N::kLargest)) return math::kNan16;
  const uint32_t sign = (byte & 0x80) << 8;
  if (kRelu && sign != 0) return 0;
  if (N::kHasInfinity && magnitude == infinity) return sign | math::Half::kInfinity;
  const uint32_t exponent = magnitude >> N::kMantissa;
  const uint32_t fraction = magnitude & ((1u << N::kMantissa) - 1);
  const uint32_t whole = exponent != 0 ? fraction | 1u << N::kMantissa : fraction;
  const int unit = N::kLowest + std::max(int(exponent), 1) - 1;
  return sign | math::double_to_half(std::ldexp(double(whole), unit));
}

template <class N, bool kRelu>
uint32_t bytes_of_floats(uint32_t a, uint32_t b) {
  return byte_of<N, kRelu>(math::f32(a)) << 8 | byte_of<N, kRelu>(math::f32(b));
}
template <class N, bool kRelu>
uint32_t bytes_of_halves(uint32_t a) {
  return byte_of<N, kRelu>(math::half_to_float(uint16_t(a >> 16))) << 8 |
         byte_of<N, kRelu>(math::half_to_float(uint16_t(a)));
}
template <class N, bool kRelu>
uint32_t halves_of_bytes(uint32_t a) {
  return half_of<N, kRelu>(a >> 8 & 0xFF) << 16 | half_of<N, kRelu>(a & 0xFF);
}

template <class N, bool kRelu>
Handlers select_with(const ptx::Instruction& code) {
  if (code.type == Type::kF16x2)
    return code.src.size() == 1 && !code.sat_finite ? lifted<&halves_of_bytes<N, kRelu>>()
                                                    : Handlers{};
  if (!code.sat_finite) return {};  // there is no other form
  if (code.src_type == Type::kF32 && code.src.size() == 2)
    return lifted<&bytes_of_floats<N, kRelu>>();
  if (code.src_type == Type::kF16x2 && code.src.size() == 1)
    return lifted<&bytes_of_halves<N, kRelu>>();
  return {};
}
template <class N>
Handlers select_for(const ptx::Instruction& code) {
  return code.relu ? select_with<N, true>(code) : select_with<N, false>(code);
}

}  // namespace

Handlers select_byte_convert(const ptx::Instruction& code) {
  if (code.rounding != ptx::Rounding::kRn || code.sat || code.ftz) return {};
  for (const Type type : {code.type, code.src_type}) {
    if (type == Type::kE4M3x2) return select_for<E4M3>(code);
    if (type == Type::kE5M2x2) return select_for<E5M2>(code);
  }
  return {};
}

}  // namespace warpsim
