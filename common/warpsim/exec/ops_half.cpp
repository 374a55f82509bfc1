// Half precision and bfloat16: conversions and plain arithmetic, as if computed exactly and rounded
// once.

#include <cmath>

#include "warpsim/exec/float_math.h"
#include "warpsim/exec/half_sum.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace math {

float half_to_float(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3FF;
  if (exponent == 31) return f32(sign | 0x7F800000 | mantissa << 13);
  if (exponent != 0) return f32(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = float(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

uint16_t double_to_half(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (value != value) return 0x7FFF;
  if (magnitude >= 65520.0) return sign | 0x7C00;
  if (magnitude == 0) return sign;  // frexp gives zero the exponent of numbers near 1
  int exponent = 0;
  std::frexp(magnitude, &exponent);               // magnitude = f * 2^exponent, f in [0.5, 1)
  const int unit = std::max(exponent - 11, -24);  // exponent of the last bit kept
  const double scaled = std::nearbyint(std::ldexp(magnitude, -unit));
  const uint32_t integer = uint32_t(scaled);
  if (unit == -24)
    return uint16_t(sign | integer);  // subnormal, or the carry into the smallest normal number
  return uint16_t(sign | ((uint32_t(unit + 24) << 10) + integer));
}

uint16_t float_to_bf16(float value) {
  const uint32_t x = bits(value);
  if (value != value) return 0x7FFF;
  return uint16_t((x + 0x7FFF + (x >> 16 & 1)) >> 16);
}

}  // namespace math

namespace {

using ptx::Opcode;
using ptx::Type;

struct Half {
  static double get(uint16_t x) { return math::half_to_float(x); }
  static uint16_t put(double x) { return math::double_to_half(x); }
};
// bfloat16 has the range of float, so neither double nor float holds a fused result exactly.
// Rounding to odd on the way keeps what the last rounding must know: an inexact value gets an odd
// last bit and is never taken for a tie.
double add_to_odd(double a, double b) {
  const double sum = a + b, back = sum - a;
  const double rest = (a - (sum - back)) + (b - back);  // what rounding took away, exactly
  if (!std::isfinite(sum) || rest == 0 || (math::bits(sum) & 1)) return sum;
  return std::nextafter(sum, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}
float float_to_odd(double x) {
  const float nearest = float(x);
  if (!std::isfinite(x) || double(nearest) == x) return nearest;
  uint32_t towards_zero = math::bits(nearest);
  if (std::fabs(double(nearest)) > std::fabs(x)) --towards_zero;
  return math::f32(towards_zero | 1);
}

struct Brain {
  static double get(uint16_t x) { return math::bf16_to_float(x); }
  static uint16_t put(double x) { return math::float_to_bf16(float_to_odd(x)); }
};

struct Add {
  static double f(double a, double b) { return add_to_odd(a, b); }
};
struct Sub {
  static double f(double a, double b) { return add_to_odd(a, -b); }
};
struct Mul {
  static double f(double a, double b) { return a * b; }
};
struct Min {
  static double f(double a, double b) { return std::fmin(a, b); }
};
struct Max {
  static double f(double a, double b) { return std::fmax(a, b); }
};

template <class N, class F>
uint32_t one(uint32_t a, uint32_t b) {
  return N::put(F::f(N::get(uint16_t(a)), N::get(uint16_t(b))));
}
template <class N, class F>
uint32_t two(uint32_t a, uint32_t b) {
  return one<N, F>(a >> 16, b >> 16) << 16 | one<N, F>(a, b);
}
template <class N>
uint32_t fma_one(uint32_t a, uint32_t b, uint32_t c) {
  const double product = N::get(uint16_t(a)) * N::get(uint16_t(b));  // exact
  return N::put(add_to_odd(product, N::get(uint16_t(c))));
}
template <class N>
uint32_t fma_two(uint32_t a, uint32_t b, uint32_t c) {
  return fma_one<N>(a >> 16, b >> 16, c >> 16) << 16 | fma_one<N>(a, b, c);
}
uint32_t neg_one(uint32_t a) {
  return a ^ 0x8000;
}
uint32_t neg_two(uint32_t a) {
  return a ^ 0x80008000;
}
uint32_t abs_one(uint32_t a) {
  return a & 0x7FFF;
}
uint32_t abs_two(uint32_t a) {
  return a & 0x7FFF7FFF;
}

template <class N, class F>
Handlers of_width(bool pair) {
  return pair ? lifted<&two<N, F>>() : lifted<&one<N, F>>();
}

template <class N>
Handlers select(Opcode op, bool pair) {
  switch (op) {
    case Opcode::kAdd:
      return of_width<N, Add>(pair);
    case Opcode::kSub:
      return of_width<N, Sub>(pair);
    case Opcode::kMul:
      return of_width<N, Mul>(pair);
    case Opcode::kMin:
      return of_width<N, Min>(pair);
    case Opcode::kMax:
      return of_width<N, Max>(pair);
    case Opcode::kFma:
      return pair ? lifted<&fma_two<N>>() : lifted<&fma_one<N>>();
    case Opcode::kNeg:
      return pair ? lifted<&neg_two>() : lifted<&neg_one>();
    case Opcode::kAbs:
      return pair ? lifted<&abs_two>() : lifted<&abs_one>();
    default:
      return {};
  }
}

}  // namespace

namespace math {

uint16_t add_half(uint16_t a, uint16_t b) {
  return uint16_t(one<Half, Add>(a, b));
}
uint16_t add_bf16(uint16_t a, uint16_t b) {
  return uint16_t(one<Brain, Add>(a, b));
}

}  // namespace math

Handlers select_half(const ptx::Instruction& code) {
  if (code.sat || code.ftz || code.mnemonic.find(".relu") != std::string::npos ||
      code.mnemonic.find(".NaN") != std::string::npos)
    return {};
  switch (code.type) {
    case Type::kF16:
      return select<Half>(code.op, false);
    case Type::kF16x2:
      return select<Half>(code.op, true);
    case Type::kBF16:
      return select<Brain>(code.op, false);
    case Type::kBF16x2:
      return select<Brain>(code.op, true);
    default:
      return {};
  }
}

}  // namespace warpsim
