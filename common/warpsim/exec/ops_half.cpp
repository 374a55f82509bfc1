// Half precision and bfloat16: conversions and plain arithmetic, as if computed exactly and rounded
// once.

#include <bit>
#include <cmath>

#include "warpsim/exec/float_math.h"
#include "warpsim/exec/half_math.h"
#include "warpsim/exec/half_sum.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace math {

uint16_t double_to_half(double value) {
  return Half::put(value);
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

// bfloat16 has the range of float, so neither double nor float holds a fused result exactly.
// Rounding to odd on the way keeps what the last rounding must know: an inexact value gets an odd
// last bit and is never taken for a tie.
[[gnu::always_inline]] inline double add_to_odd(double a, double b) {
  const double sum = a + b, back = sum - a;
  const double rest = (a - (sum - back)) + (b - back);  // what rounding took away, exactly
  // Without a branch and with integers only, so that the compiler takes several lanes at once.
  constexpr uint64_t kMagnitude = UINT64_MAX >> 1, kInfinite = uint64_t{0x7FF} << 52;
  const uint64_t code = math::bits(sum), lost = math::bits(rest);
  const uint64_t is_off =
      uint64_t{(lost & kMagnitude) != 0} & uint64_t{(code & kMagnitude) < kInfinite} & (~code & 1);
  const uint64_t is_opposite = (code ^ lost) >> 63;
  return std::bit_cast<double>(code + is_off * (1 - 2 * is_opposite));  // the next on that side
}
float float_to_odd(double x) {
  const float nearest = float(x);
  if (!std::isfinite(x) || double(nearest) == x) return nearest;
  uint32_t towards_zero = math::bits(nearest);
  if (std::fabs(double(nearest)) > std::fabs(x)) --towards_zero;
  return math::f32(towards_zero | 1);
}

}  // namespace

uint16_t math::Brain::put(double x) {
  return float_to_bf16(float_to_odd(x));
}

namespace {

using math::After16;
using math::Brain;
using math::Half;

template <class N, bool kFtz>
[[gnu::always_inline]] inline uint16_t flushed(uint32_t x) {
  const bool is_small = (x & N::kInfinity) == 0;
  return uint16_t(kFtz && is_small ? x & 0x8000 : x);
}

// Operations on two codes. Those on numbers say what f gives.
template <class Sum>
struct Rounded {
  template <class N>
  static uint16_t f(uint16_t a, uint16_t b) {
    return N::put(Sum::f(N::get(a), N::get(b)));
  }
};
struct AddNumbers {
  static double f(double a, double b) { return add_to_odd(a, b); }
};
struct SubNumbers {
  static double f(double a, double b) { return add_to_odd(a, -b); }
};
struct MulNumbers {
  static double f(double a, double b) { return a * b; }
};
using Add = Rounded<AddNumbers>;
using Sub = Rounded<SubNumbers>;
using Mul = Rounded<MulNumbers>;

// The number where one operand is a NaN (kNan: the NaN); -0 is less than +0. kXorsign: of the
// magnitudes, with the sign that their product has.
template <bool kMax, bool kNan, bool kXorsign>
struct Extreme {
  template <class N>
  static uint16_t f(uint16_t a, uint16_t b) {
    const uint16_t sign = kXorsign ? (a ^ b) & 0x8000 : 0;
    if (kXorsign) a &= 0x7FFF, b &= 0x7FFF;
    const bool nan_a = math::is_nan16<N>(a), nan_b = math::is_nan16<N>(b);
    if (nan_a && nan_b) return math::kNan16;
    if (nan_a || nan_b) return kNan ? math::kNan16 : uint16_t((nan_a ? b : a) | sign);
    auto order = [](uint16_t x) { return x & 0x8000 ? -1 - int(x & 0x7FFF) : int(x); };
    const bool take_a = kMax ? order(a) > order(b) : order(a) < order(b);
    return uint16_t((take_a ? a : b) | sign);
  }
};

template <class N, class F, After16 kAfter, bool kFtz>
[[gnu::always_inline]] inline uint32_t one(uint32_t a, uint32_t b) {
  const uint16_t r = F::template f<N>(flushed<N, kFtz>(a & 0xFFFF), flushed<N, kFtz>(b & 0xFFFF));
  return math::finish16<N>(flushed<N, kFtz>(r), kAfter);
}
template <class N, class F, After16 kAfter, bool kFtz>
[[gnu::always_inline]] inline uint32_t two(uint32_t a, uint32_t b) {
  return one<N, F, kAfter, kFtz>(a >> 16, b >> 16) << 16 | one<N, F, kAfter, kFtz>(a, b);
}
template <class N, After16 kAfter, bool kFtz>
[[gnu::always_inline]] inline uint32_t fma_one(uint32_t a, uint32_t b, uint32_t c) {
  auto number = [](uint32_t x) { return N::get(flushed<N, kFtz>(x & 0xFFFF)); };
  const uint16_t r = N::put(add_to_odd(number(a) * number(b), number(c)));  // the product is exact
  return math::finish16<N>(flushed<N, kFtz>(r), kAfter);
}
template <class N, After16 kAfter, bool kFtz>
[[gnu::always_inline]] inline uint32_t fma_two(uint32_t a, uint32_t b, uint32_t c) {
  return fma_one<N, kAfter, kFtz>(a >> 16, b >> 16, c >> 16) << 16 |
         fma_one<N, kAfter, kFtz>(a, b, c);
}

// Of one operand.
struct Neg {
  template <class N>
  static uint16_t f(uint16_t a) {
    return a ^ 0x8000;
  }
};
struct Abs {
  template <class N>
  static uint16_t f(uint16_t a) {
    return a & 0x7FFF;
  }
};
// Correctly rounded, which is within the error that the ISA allows the .approx functions.
struct Ex2 {
  template <class N>
  static uint16_t f(uint16_t a) {
    return N::put(std::exp2(N::get(a)));
  }
};
struct Tanh {
  template <class N>
  static uint16_t f(uint16_t a) {
    return N::put(std::tanh(N::get(a)));
  }
};
template <class N, class F, bool kFtz>
uint32_t single(uint32_t a) {
  return flushed<N, kFtz>(F::template f<N>(flushed<N, kFtz>(a & 0xFFFF)));
}
template <class N, class F, bool kFtz>
uint32_t both(uint32_t a) {
  return single<N, F, kFtz>(a >> 16) << 16 | single<N, F, kFtz>(a);
}

struct Form {
  bool is_pair, ftz;
  After16 after;
};

template <class N, class F, After16 kAfter>
Handlers binary(const Form& form) {
  if (form.ftz)
    return form.is_pair ? lifted<&two<N, F, kAfter, true>>() : lifted<&one<N, F, kAfter, true>>();
  return form.is_pair ? lifted<&two<N, F, kAfter, false>>() : lifted<&one<N, F, kAfter, false>>();
}
template <class N, class F>
Handlers finished(const Form& form) {
  switch (form.after) {
    case After16::kSat:
      return binary<N, F, After16::kSat>(form);
    case After16::kRelu:
      return binary<N, F, After16::kRelu>(form);
    default:
      return binary<N, F, After16::kNothing>(form);
  }
}
template <class N, After16 kAfter>
Handlers fma(const Form& form) {
  if (form.ftz)
    return form.is_pair ? lifted<&fma_two<N, kAfter, true>>() : lifted<&fma_one<N, kAfter, true>>();
  return form.is_pair ? lifted<&fma_two<N, kAfter, false>>() : lifted<&fma_one<N, kAfter, false>>();
}
template <class N, class F>
Handlers unary(const Form& form) {
  if (form.after != After16::kNothing) return {};
  if (form.ftz) return form.is_pair ? lifted<&both<N, F, true>>() : lifted<&single<N, F, true>>();
  return form.is_pair ? lifted<&both<N, F, false>>() : lifted<&single<N, F, false>>();
}

template <class N, bool kMax>
Handlers extreme(const ptx::Instruction& code, const Form& form) {
  if (code.xorsign)
    return code.nan ? binary<N, Extreme<kMax, true, true>, After16::kNothing>(form)
                    : binary<N, Extreme<kMax, false, true>, After16::kNothing>(form);
  return code.nan ? binary<N, Extreme<kMax, true, false>, After16::kNothing>(form)
                  : binary<N, Extreme<kMax, false, false>, After16::kNothing>(form);
}

template <class N>
Handlers select(const ptx::Instruction& code, const Form& form) {
  switch (code.op) {
    case Opcode::kAdd:
      return finished<N, Add>(form);
    case Opcode::kSub:
      return finished<N, Sub>(form);
    case Opcode::kMul:
      return finished<N, Mul>(form);
    case Opcode::kFma:
      return form.after == After16::kSat    ? fma<N, After16::kSat>(form)
             : form.after == After16::kRelu ? fma<N, After16::kRelu>(form)
                                            : fma<N, After16::kNothing>(form);
    case Opcode::kMin:
      return form.after == After16::kNothing ? extreme<N, false>(code, form) : Handlers{};
    case Opcode::kMax:
      return form.after == After16::kNothing ? extreme<N, true>(code, form) : Handlers{};
    case Opcode::kNeg:
      return unary<N, Neg>(form);
    case Opcode::kAbs:
      return unary<N, Abs>(form);
    case Opcode::kEx2:
      return unary<N, Ex2>(form);
    case Opcode::kTanh:
      return unary<N, Tanh>(form);
    default:
      return {};
  }
}

}  // namespace

namespace math {

uint16_t add_half(uint16_t a, uint16_t b) {
  return Add::f<Half>(a, b);
}
uint16_t add_bf16(uint16_t a, uint16_t b) {
  return Add::f<Brain>(a, b);
}

}  // namespace math

Handlers select_half(const ptx::Instruction& code) {
  const bool nearest = code.rounding == ptx::Rounding::kNone || code.rounding == ptx::Rounding::kRn;
  if (!nearest || (code.sat && code.relu)) return {};
  Form form{false, code.ftz,
            code.sat    ? After16::kSat
            : code.relu ? After16::kRelu
                        : After16::kNothing};
  switch (code.type) {
    case Type::kF16x2:
      form.is_pair = true;
      [[fallthrough]];
    case Type::kF16:
      return select<Half>(code, form);
    case Type::kBF16x2:
      form.is_pair = true;
      [[fallthrough]];
    case Type::kBF16:
      return select<Brain>(code, form);
    default:
      return {};
  }
}

}  // namespace warpsim
