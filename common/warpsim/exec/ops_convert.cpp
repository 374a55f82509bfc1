// cvt. Results of less than 32 bits lie in 32-bit rows, sign- or zero-extended to the destination
// register as PTX says.

#include <limits>
#include <utility>

#include "warpsim/exec/float_math.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::Rounding;
using ptx::Type;

// The low bits of a register as a T; wider destinations extend by T's sign. `kTo` is the
// destination register's width.
template <class From, class To, bool kSat>
Reg<To> integer(Reg<From> a) {
  const From value = From(a);
  if constexpr (!kSat) {
    return put(To(value));
  } else {
    constexpr To kLow = std::numeric_limits<To>::min(), kHigh = std::numeric_limits<To>::max();
    if (std::cmp_less(value, kLow)) return put(kLow);
    if (std::cmp_greater(value, kHigh)) return put(kHigh);
    return put(To(value));
  }
}

double round_value(double x, Rounding how) {
  switch (how) {
    case Rounding::kRzi:
    case Rounding::kRz:
      return __builtin_trunc(x);
    case Rounding::kRmi:
    case Rounding::kRm:
      return __builtin_floor(x);
    case Rounding::kRpi:
    case Rounding::kRp:
      return __builtin_ceil(x);
    default:
      return __builtin_nearbyint(x);  // ties to even: the processor's mode
  }
}

// Saturates; a NaN gives 0, or the highest bit alone where double precision or 64-bit integers take
// part.
template <class To, Rounding kHow, bool kFromDouble>
Reg<To> to_integer(double x) {
  if (x != x) {
    constexpr bool kHighBit = kFromDouble || sizeof(To) == 8;
    return kHighBit ? Reg<To>(Reg<To>(1) << (8 * sizeof(To) - 1)) : Reg<To>(0);
  }
  const double r = round_value(x, kHow);
  constexpr double kLow = double(std::numeric_limits<To>::min());
  constexpr double kEnd =
      2.0 * double(std::make_unsigned_t<To>(1) << (std::numeric_limits<To>::digits - 1));
  if (r < kLow) return put(std::numeric_limits<To>::min());
  if (r >= kEnd) return put(std::numeric_limits<To>::max());
  return put(To(r));
}
template <class To, Rounding kHow, bool kFtz>
Reg<To> float_to_integer(uint32_t a) {
  return to_integer<To, kHow, false>(math::f32(math::input<kFtz>(a)));
}
template <class To, Rounding kHow>
Reg<To> double_to_integer(uint64_t a) {
  return to_integer<To, kHow, true>(math::f64(a));
}

template <class From>
uint32_t integer_to_float(Reg<From> a) {
  return math::bits(float(From(a)));
}
template <class From>
uint64_t integer_to_double(Reg<From> a) {
  return math::bits(double(From(a)));
}

template <bool kFtz, bool kSat>
uint32_t double_to_float(uint64_t a) {
  return math::result<kFtz, kSat>(float(math::f64(a)));
}
template <bool kFtz>
uint64_t float_to_double(uint32_t a) {
  return math::bits(double(math::f32(math::input<kFtz>(a))));
}
template <bool kFtz, bool kSat>
uint32_t float_to_float(uint32_t a) {
  return math::result<kFtz, kSat>(math::f32(math::input<kFtz>(a)));
}
template <Rounding kHow, bool kFtz, bool kSat>
uint32_t float_round(uint32_t a) {
  return math::result<kFtz, kSat>(float(round_value(math::f32(math::input<kFtz>(a)), kHow)));
}
template <Rounding kHow>
uint64_t double_round(uint64_t a) {
  return math::bits(round_value(math::f64(a), kHow));
}

template <bool kSat>
uint32_t half_to_f32(uint32_t a) {
  return math::result<false, kSat>(math::half_to_float(uint16_t(a)));
}
uint64_t half_to_f64(uint32_t a) {
  return math::bits(double(math::half_to_float(uint16_t(a))));
}
uint64_t bf16_to_f64(uint32_t a) {
  return math::bits(double(math::bf16_to_float(uint16_t(a))));
}
uint32_t bf16_to_f32(uint32_t a) {
  return math::result<false>(math::bf16_to_float(uint16_t(a)));
}
template <class To, Rounding kHow>
Reg<To> half_to_integer(uint32_t a) {
  return to_integer<To, kHow, false>(math::half_to_float(uint16_t(a)));
}
template <class To, Rounding kHow>
Reg<To> bf16_to_integer(uint32_t a) {
  return to_integer<To, kHow, false>(math::bf16_to_float(uint16_t(a)));
}

template <class Visit>
Handlers visit_integer(Type type, Visit visit) {
  switch (type) {
    case Type::kU8:
    case Type::kB8:
      return visit(std::type_identity<uint8_t>{});
    case Type::kS8:
      return visit(std::type_identity<int8_t>{});
    case Type::kU16:
    case Type::kB16:
      return visit(std::type_identity<uint16_t>{});
    case Type::kS16:
      return visit(std::type_identity<int16_t>{});
    case Type::kU32:
    case Type::kB32:
      return visit(std::type_identity<uint32_t>{});
    case Type::kS32:
      return visit(std::type_identity<int32_t>{});
    case Type::kU64:
    case Type::kB64:
      return visit(std::type_identity<uint64_t>{});
    case Type::kS64:
      return visit(std::type_identity<int64_t>{});
    default:
      return {};
  }
}

template <class Visit>
Handlers visit_rounding(Rounding how, Visit visit) {
  switch (how) {
    case Rounding::kNone:
    case Rounding::kRn:
    case Rounding::kRni:
      return visit(std::integral_constant<Rounding, Rounding::kRni>{});
    case Rounding::kRz:
    case Rounding::kRzi:
      return visit(std::integral_constant<Rounding, Rounding::kRzi>{});
    case Rounding::kRm:
    case Rounding::kRmi:
      return visit(std::integral_constant<Rounding, Rounding::kRmi>{});
    case Rounding::kRp:
    case Rounding::kRpi:
      return visit(std::integral_constant<Rounding, Rounding::kRpi>{});
    default:
      return {};
  }
}

Handlers integer_to_integer(const ptx::Instruction& code) {
  return visit_integer(code.src_type, [&]<class From>(std::type_identity<From>) {
    return visit_integer(code.type, [&]<class To>(std::type_identity<To>) {
      return code.sat ? lifted<&integer<From, To, true>>() : lifted<&integer<From, To, false>>();
    });
  });
}

Handlers to_integer_from_float(const ptx::Instruction& code) {
  return visit_integer(code.type, [&]<class To>(std::type_identity<To>) {
    return visit_rounding(code.rounding,
                          [&]<Rounding kHow>(std::integral_constant<Rounding, kHow>) -> Handlers {
                            switch (code.src_type) {
                              case Type::kF64:
                                return lifted<&double_to_integer<To, kHow>>();
                              case Type::kF16:
                                return lifted<&half_to_integer<To, kHow>>();
                              case Type::kBF16:
                                return lifted<&bf16_to_integer<To, kHow>>();
                              case Type::kF32:
                                return code.ftz ? lifted<&float_to_integer<To, kHow, true>>()
                                                : lifted<&float_to_integer<To, kHow, false>>();
                              default:
                                return {};
                            }
                          });
  });
}

Handlers to_float_from_integer(const ptx::Instruction& code) {
  return visit_integer(code.src_type, [&]<class From>(std::type_identity<From>) -> Handlers {
    switch (code.type) {
      case Type::kF64:
        return lifted<&integer_to_double<From>>();
      case Type::kF32:
        return lifted<&integer_to_float<From>>();
      default:
        return {};
    }
  });
}

Handlers from_half(const ptx::Instruction& code) {
  const bool is_brain = code.src_type == Type::kBF16;
  if (code.type == Type::kF64) return is_brain ? lifted<&bf16_to_f64>() : lifted<&half_to_f64>();
  if (code.type != Type::kF32 || (is_brain && code.sat)) return {};
  if (is_brain) return lifted<&bf16_to_f32>();
  return code.sat ? lifted<&half_to_f32<true>>() : lifted<&half_to_f32<false>>();
}

bool rounds_to_integer(Rounding how) {
  return how == Rounding::kRni || how == Rounding::kRzi || how == Rounding::kRmi ||
         how == Rounding::kRpi;
}

template <bool kFtz, bool kSat>
Handlers float_to_same(const ptx::Instruction& code) {
  if (!rounds_to_integer(code.rounding)) return lifted<&float_to_float<kFtz, kSat>>();
  return visit_rounding(code.rounding, []<Rounding kHow>(std::integral_constant<Rounding, kHow>) {
    return lifted<&float_round<kHow, kFtz, kSat>>();
  });
}

Handlers float_to_float_types(const ptx::Instruction& code) {
  if (code.type == Type::kF32 && code.src_type == Type::kF32) {
    if (code.sat)
      return code.ftz ? float_to_same<true, true>(code) : float_to_same<false, true>(code);
    return code.ftz ? float_to_same<true, false>(code) : float_to_same<false, false>(code);
  }
  if (code.type == Type::kF64 && code.src_type == Type::kF64) {
    if (!rounds_to_integer(code.rounding)) return ops::copy64();
    return visit_rounding(code.rounding, []<Rounding kHow>(std::integral_constant<Rounding, kHow>) {
      return lifted<&double_round<kHow>>();
    });
  }
  if (code.type == Type::kF64 && code.src_type == Type::kF32)
    return code.ftz ? lifted<&float_to_double<true>>() : lifted<&float_to_double<false>>();
  if (code.type == Type::kF32 && code.src_type == Type::kF64) {
    if (code.sat)
      return code.ftz ? lifted<&double_to_float<true, true>>()
                      : lifted<&double_to_float<false, true>>();
    return code.ftz ? lifted<&double_to_float<true, false>>()
                    : lifted<&double_to_float<false, false>>();
  }
  if (code.src_type == Type::kF16 || code.src_type == Type::kBF16) return from_half(code);
  return {};
}

}  // namespace

Handlers select_convert(const ptx::Instruction& code) {
  if (code.relu || code.sat_finite) return {};  // of smaller numbers only, which are elsewhere
  const bool from_float = ptx::is_float(code.src_type), to_float = ptx::is_float(code.type);
  if (!from_float && !to_float) return integer_to_integer(code);
  if (from_float && !to_float) return to_integer_from_float(code);
  const bool directed = code.rounding == Rounding::kRz || code.rounding == Rounding::kRm ||
                        code.rounding == Rounding::kRp;
  if (directed) return {};  // select_rounding has them
  return from_float ? float_to_float_types(code) : to_float_from_integer(code);
}

}  // namespace warpsim
