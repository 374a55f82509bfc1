// Half precision and bfloat16: conversions and plain arithmetic, as if computed exactly and rounded
// once.

#include <bit>
#include <cmath>
#include <type_traits>

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

#if defined(WARPSIM_AVX512) && defined(__F16C__)
// fma_two of all lanes, eight halves at a time: the same steps, which the compiler does not take
// together by itself.
const Op* fma_halves(Warp& w, const Op* op) {
  const __m512i magnitude_bits = _mm512_set1_epi64(INT64_MAX);
  const __m512i infinite = _mm512_set1_epi64(int64_t{0x7FF} << 52), one = _mm512_set1_epi64(1);
  const __m512d large = _mm512_set1_pd(0x1p28);  // as a double its last bit is worth 2^-24
  auto numbers = [&](uint32_t at, int i) {
    const auto* halves = reinterpret_cast<const __m128i*>(row<uint32_t>(w, at)) + i;
    return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_load_si128(halves)));
  };
  for (int i = 0; i < 2 * kLanes / 8; ++i) {
    const __m512d a = _mm512_mul_pd(numbers(op->a, i), numbers(op->b, i)), b = numbers(op->c, i);
    const __m512d sum = _mm512_add_pd(a, b), back = _mm512_sub_pd(sum, a);
    const __m512d rest =
        _mm512_add_pd(_mm512_sub_pd(a, _mm512_sub_pd(sum, back)), _mm512_sub_pd(b, back));
    // To odd: see add_to_odd.
    __m512i code = _mm512_castpd_si512(sum);
    const __m512i lost = _mm512_castpd_si512(rest);
    const __mmask8 is_off =
        _mm512_test_epi64_mask(lost, magnitude_bits) &
        _mm512_cmplt_epu64_mask(_mm512_and_si512(code, magnitude_bits), infinite) &
        _mm512_testn_epi64_mask(code, one);
    const __m512i is_opposite = _mm512_srli_epi64(_mm512_xor_si512(code, lost), 63);
    const __m512i step = _mm512_sub_epi64(one, _mm512_add_epi64(is_opposite, is_opposite));
    code = _mm512_mask_add_epi64(code, is_off, code, step);
    // To a half: see Half::put.
    const __m512i magnitude = _mm512_and_si512(code, magnitude_bits);
    const __m512i last = _mm512_and_si512(_mm512_srli_epi64(magnitude, 42), one);
    const __m512i moved =
        _mm512_add_epi64(_mm512_sub_epi64(magnitude, _mm512_set1_epi64(int64_t{1023 - 15} << 52)),
                         _mm512_set1_epi64((int64_t{1} << 41) - 1));
    __m512i half = _mm512_srli_epi64(_mm512_add_epi64(moved, last), 42);
    const __m512i subnormal =
        _mm512_sub_epi64(_mm512_castpd_si512(_mm512_add_pd(_mm512_castsi512_pd(magnitude), large)),
                         _mm512_castpd_si512(large));
    auto below = [&](double limit) {
      return _mm512_cmplt_epu64_mask(magnitude, _mm512_castpd_si512(_mm512_set1_pd(limit)));
    };
    half = _mm512_mask_mov_epi64(half, below(0x1p-14), subnormal);
    half =
        _mm512_mask_mov_epi64(half, __mmask8(~below(65520.0)), _mm512_set1_epi64(Half::kInfinity));
    const __m512i sign = _mm512_and_si512(_mm512_srli_epi64(code, 48), _mm512_set1_epi64(0x8000));
    half = _mm512_mask_mov_epi64(_mm512_or_si512(half, sign),
                                 _mm512_cmpgt_epu64_mask(magnitude, infinite),
                                 _mm512_set1_epi64(math::kNan16));
    _mm_store_si128(reinterpret_cast<__m128i*>(row<uint32_t>(w, op->d)) + i,
                    _mm512_cvtepi64_epi16(half));
  }
  return op + 1;
}
#endif

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
#if defined(WARPSIM_AVX512) && defined(__F16C__)
  if (std::is_same_v<N, Half> && kAfter == After16::kNothing && form.is_pair && !form.ftz)
    return {&fma_halves, &lift<&fma_two<N, kAfter, false>, false>};
#endif
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
