// Arithmetic of one lane on the bits of a register, as the GPU does it.
//
// - Every single-precision result that is a NaN is 0x7FFFFFFF. In double precision the first
// operand that is a NaN is passed on, made quiet, and where none is, a result that is one is
// kNan64. The bits of a GPU's double-precision NaNs were not measured.
// - .ftz: subnormal inputs and results become zero of the same sign.
// - The .approx functions are computed correctly rounded (in double precision), which differs from
// the GPU's table lookup by at
//   most its documented error (2 ulp for most); everything else is bit-identical.
// Source: PTX ISA, "Floating-Point Instructions".

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "warpsim/half.h"

namespace warpsim::math {

inline constexpr uint32_t kNan32 = 0x7FFFFFFF;
inline constexpr uint64_t kNan64 = 0xFFF8000000000000;  // CUDART_NAN of math_constants.h
inline constexpr uint64_t kQuiet64 = 0x0008000000000000;

inline float f32(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}
inline double f64(uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline uint64_t bits(double value) {
  return std::bit_cast<uint64_t>(value);
}

inline uint32_t flush(uint32_t x) {
  return (x & 0x7F800000) == 0 ? x & 0x80000000 : x;
}
inline bool is_nan32(uint32_t x) {
  return (x & 0x7FFFFFFF) > 0x7F800000;
}
inline bool is_nan64(uint64_t x) {
  return (x & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000;
}

template <bool kFtz>
inline uint32_t input(uint32_t x) {
  if constexpr (kFtz) return flush(x);
  return x;
}

// Result of a single-precision operation: canonical NaN, flushed or saturated to [0, 1] (NaN to 0)
// if the instruction says so.
template <bool kFtz, bool kSat = false>
inline uint32_t result(float value) {
  uint32_t x = value != value ? kNan32 : bits(value);
  if constexpr (kFtz) x = flush(x);
  if constexpr (kSat) x = !(value > 0.0f) ? 0 : value > 1.0f ? 0x3F800000 : x;
  return x;
}

template <bool kFtz, bool kSat>
inline uint32_t add(uint32_t a, uint32_t b) {
  return result<kFtz, kSat>(f32(input<kFtz>(a)) + f32(input<kFtz>(b)));
}
template <bool kFtz, bool kSat>
inline uint32_t sub(uint32_t a, uint32_t b) {
  return result<kFtz, kSat>(f32(input<kFtz>(a)) - f32(input<kFtz>(b)));
}
template <bool kFtz, bool kSat>
inline uint32_t mul(uint32_t a, uint32_t b) {
  return result<kFtz, kSat>(f32(input<kFtz>(a)) * f32(input<kFtz>(b)));
}
template <bool kFtz, bool kSat>
inline uint32_t fma(uint32_t a, uint32_t b, uint32_t c) {
  return result<kFtz, kSat>(
      __builtin_fmaf(f32(input<kFtz>(a)), f32(input<kFtz>(b)), f32(input<kFtz>(c))));
}
template <bool kFtz>
inline uint32_t div(uint32_t a, uint32_t b) {
  return result<kFtz>(f32(input<kFtz>(a)) / f32(input<kFtz>(b)));
}
template <bool kFtz>
inline uint32_t rcp(uint32_t a) {
  return result<kFtz>(1.0f / f32(input<kFtz>(a)));
}
template <bool kFtz>
inline uint32_t sqrt(uint32_t a) {
  return result<kFtz>(__builtin_sqrtf(f32(input<kFtz>(a))));
}

template <bool kFtz>
inline uint32_t neg(uint32_t a) {
  return is_nan32(a) ? kNan32 : input<kFtz>(a) ^ 0x80000000;
}
template <bool kFtz>
inline uint32_t abs(uint32_t a) {
  return is_nan32(a) ? kNan32 : input<kFtz>(a) & 0x7FFFFFFF;
}

// min and max: the number where one operand is a NaN (with .NaN: the NaN); -0 is less than +0.
template <bool kFtz, bool kMax, bool kPropagateNan>
inline uint32_t min_max(uint32_t a, uint32_t b) {
  a = input<kFtz>(a);
  b = input<kFtz>(b);
  // Order-preserving integers: negative floats reversed.
  const int32_t ka = int32_t(a) ^ int32_t(uint32_t(int32_t(a) >> 31) >> 1);
  const int32_t kb = int32_t(b) ^ int32_t(uint32_t(int32_t(b) >> 31) >> 1);
  uint32_t r = (kMax ? ka > kb : ka < kb) ? a : b;
  const bool nan_a = is_nan32(a), nan_b = is_nan32(b);
  if (kPropagateNan) return nan_a || nan_b ? kNan32 : r;
  r = nan_a ? b : r;
  r = nan_b ? a : r;
  return nan_a && nan_b ? kNan32 : r;
}

// The value; where it is a NaN, the first of these operands that is one, made quiet. Which operand
// a GPU looks at first was measured (docs/measurements/double-nans.md): the second, then of a fused
// multiply-add the third, then the first; of a division the dividend.
inline uint64_t result64(double value, uint64_t first, uint64_t second, uint64_t third = 0) {
  uint64_t nan = is_nan64(third) ? third | kQuiet64 : kNan64;
  nan = is_nan64(second) ? second | kQuiet64 : nan;
  nan = is_nan64(first) ? first | kQuiet64 : nan;
  return value != value ? nan : bits(value);
}
inline uint64_t add64(uint64_t a, uint64_t b) {
  return result64(f64(a) + f64(b), b, a);
}
inline uint64_t sub64(uint64_t a, uint64_t b) {
  return result64(f64(a) - f64(b), b, a);
}
inline uint64_t mul64(uint64_t a, uint64_t b) {
  return result64(f64(a) * f64(b), b, a);
}
inline uint64_t fma64(uint64_t a, uint64_t b, uint64_t c) {
  return result64(__builtin_fma(f64(a), f64(b), f64(c)), b, c, a);
}
inline uint64_t div64(uint64_t a, uint64_t b) {
  return result64(f64(a) / f64(b), a, b);
}
inline uint64_t rcp64(uint64_t a) {
  return bits(1.0 / f64(a));
}
inline uint64_t sqrt64(uint64_t a) {
  return bits(__builtin_sqrt(f64(a)));
}
inline uint64_t neg64(uint64_t a) {
  return a ^ 0x8000000000000000;
}
inline uint64_t abs64(uint64_t a) {
  return a & 0x7FFFFFFFFFFFFFFF;
}
template <bool kMax>
inline uint64_t min_max64(uint64_t a, uint64_t b) {
  if (is_nan64(a)) return is_nan64(b) ? b | kQuiet64 : b;
  if (is_nan64(b)) return a;
  const int64_t ka = int64_t(a) ^ int64_t(uint64_t(int64_t(a) >> 63) >> 1);
  const int64_t kb = int64_t(b) ^ int64_t(uint64_t(int64_t(b) >> 63) >> 1);
  return (kMax ? ka > kb : ka < kb) ? a : b;
}

// The special function unit.
template <bool kFtz>
inline uint32_t ex2(uint32_t a) {
  return result<kFtz>(float(std::exp2(double(f32(input<kFtz>(a))))));
}
template <bool kFtz>
inline uint32_t lg2(uint32_t a) {
  return result<kFtz>(float(std::log2(double(f32(input<kFtz>(a))))));
}
template <bool kFtz>
inline uint32_t sin(uint32_t a) {
  return result<kFtz>(float(std::sin(double(f32(input<kFtz>(a))))));
}
template <bool kFtz>
inline uint32_t cos(uint32_t a) {
  return result<kFtz>(float(std::cos(double(f32(input<kFtz>(a))))));
}
template <bool kFtz>
inline uint32_t rsqrt(uint32_t a) {
  return result<kFtz>(float(1.0 / std::sqrt(double(f32(input<kFtz>(a))))));
}
inline uint32_t tanh(uint32_t a) {
  return result<false>(float(std::tanh(double(f32(a)))));
}
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits of the operand only and
// give 20 bits of mantissa.
inline uint64_t rcp64_approx(uint64_t a) {
  return bits(1.0 / f64(a & 0xFFFFFFFF00000000)) & 0xFFFFFFFF00000000;
}
inline uint64_t rsqrt64(uint64_t a) {
  return bits(1.0 / std::sqrt(f64(a)));
}

// Half precision and bfloat16, as stored.
uint16_t double_to_half(double value);  // to nearest, ties to even
inline float bf16_to_float(uint16_t b) {
  return f32(uint32_t{b} << 16);
}
uint16_t float_to_bf16(float value);

}  // namespace warpsim::math
