// cvt to f16, bf16, tf32 and pairs of halves: the source as a double that is exact, or rounded to
// odd where 53 bits are too few, then rounded once.

#include "warpsim/exec/half_math.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using math::After16;
using ptx::Rounding;
using ptx::Type;

// An operation's Op::Lookup.
struct How {
  Rounding rounding;
  After16 after;
  bool is_brain;
  uint32_t packed() const {
    return uint32_t(rounding) | uint32_t(after) << 8 | uint32_t(is_brain) << 16;
  }
  explicit How(uint32_t packed)
      : rounding(Rounding(packed & 0xFF)),
        after(After16(packed >> 8 & 0xFF)),
        is_brain(packed >> 16 != 0) {}
  How(Rounding r, After16 a, bool brain) : rounding(r), after(a), is_brain(brain) {}
};

double whole(double x, Rounding how) {
  switch (how) {
    case Rounding::kRzi:
      return __builtin_trunc(x);
    case Rounding::kRmi:
      return __builtin_floor(x);
    case Rounding::kRpi:
      return __builtin_ceil(x);
    case Rounding::kRni:
      return __builtin_nearbyint(x);
    default:
      return x;
  }
}

template <class N>
uint32_t to_code(double x, const How& how) {
  const bool to_whole = how.rounding >= Rounding::kRni;
  const double value = to_whole ? std::copysign(whole(x, how.rounding), x) : x;
  return math::finish16<N>(math::round16<N>(value, to_whole ? Rounding::kRn : how.rounding),
                           how.after);
}
uint32_t to_code(double x, const How& how) {
  return how.is_brain ? to_code<math::Brain>(x, how) : to_code<math::Half>(x, how);
}

// A source's number.
template <class T>
struct FromInteger {
  using Row = Reg<T>;
  static double get(Row bits) {
    const T value = T(bits);
    const bool negative = value < 0;
    return math::odd_double(negative ? 0 - uint64_t(int64_t(value)) : uint64_t(value), negative);
  }
};
template <bool kFtz>
struct FromFloat {
  using Row = uint32_t;
  static double get(Row bits) { return math::f32(math::input<kFtz>(bits)); }
};
struct FromDouble {
  using Row = uint64_t;
  static double get(Row bits) { return math::f64(bits); }
};
template <class N>
struct FromHalf {
  using Row = uint32_t;
  static double get(Row bits) { return N::get(uint16_t(bits)); }
};

template <class From>
const Op* narrowed(Warp& w, const Op* op) {
  const How how(op->lookup.table);
  const auto* a = row<typename From::Row>(w, op->a);
  uint32_t* d = row<uint32_t>(w, op->d);
  for_each_lane(w.mask, [&](int i) { d[i] = to_code(From::get(a[i]), how); });
  return op + 1;
}
// The first source goes to the upper half.
template <class From>
const Op* narrowed_pair(Warp& w, const Op* op) {
  const How how(op->lookup.table);
  const auto *a = row<typename From::Row>(w, op->a), *b = row<typename From::Row>(w, op->b);
  uint32_t* d = row<uint32_t>(w, op->d);
  for_each_lane(w.mask, [&](int i) {
    d[i] = to_code(From::get(a[i]), how) << 16 | to_code(From::get(b[i]), how);
  });
  return op + 1;
}

// 10 bits of mantissa in a float's place.
uint32_t to_tf32(uint32_t a, const How& how) {
  if (math::is_nan32(a)) return math::kNan32;
  const bool is_finite = how.after == After16::kSatFinite || how.after == After16::kReluSatFinite;
  const bool no_negative = how.after == After16::kRelu || how.after == After16::kReluSatFinite;
  if (no_negative && (a >> 31) != 0) return 0;
  constexpr uint32_t kInfinity = 0x7F800000, kLargest = 0x7F7FE000;
  if ((a & kInfinity) == kInfinity) return is_finite ? (a & ~kInfinity) | kLargest : a;
  const uint32_t added = how.rounding == Rounding::kRna  ? 0x1000
                         : how.rounding == Rounding::kRn ? 0xFFF + (a >> 13 & 1)
                                                         : 0;
  const uint32_t rounded = (a + added) & 0xFFFFE000;
  return is_finite && (rounded & kInfinity) == kInfinity ? rounded - 0x2000 : rounded;
}
const Op* tf32_lanes(Warp& w, const Op* op) {
  const How how(op->lookup.table);
  const auto* a = row<uint32_t>(w, op->a);
  uint32_t* d = row<uint32_t>(w, op->d);
  for_each_lane(w.mask, [&](int i) { d[i] = to_tf32(a[i], how); });
  return op + 1;
}

Handlers both(Handler h, bool wide = false) {
  return {h, h, false, wide, wide, false};
}

After16 after_of(const ptx::Instruction& code) {
  if (code.sat) return After16::kSat;
  if (code.relu) return code.sat_finite ? After16::kReluSatFinite : After16::kRelu;
  return code.sat_finite ? After16::kSatFinite : After16::kNothing;
}

Handlers by_source(const ptx::Instruction& code) {
  switch (code.src_type) {
    case Type::kU8:
      return both(&narrowed<FromInteger<uint8_t>>);
    case Type::kS8:
      return both(&narrowed<FromInteger<int8_t>>);
    case Type::kU16:
      return both(&narrowed<FromInteger<uint16_t>>);
    case Type::kS16:
      return both(&narrowed<FromInteger<int16_t>>);
    case Type::kU32:
      return both(&narrowed<FromInteger<uint32_t>>);
    case Type::kS32:
      return both(&narrowed<FromInteger<int32_t>>);
    case Type::kU64:
      return both(&narrowed<FromInteger<uint64_t>>, true);
    case Type::kS64:
      return both(&narrowed<FromInteger<int64_t>>, true);
    case Type::kF16:
      return both(&narrowed<FromHalf<math::Half>>);
    case Type::kBF16:
      return both(&narrowed<FromHalf<math::Brain>>);
    case Type::kF32:
      return both(code.ftz ? &narrowed<FromFloat<true>> : &narrowed<FromFloat<false>>);
    case Type::kF64:
      return both(&narrowed<FromDouble>, true);
    default:
      return {};
  }
}

}  // namespace

Handlers select_small_convert(const ptx::Instruction& code, uint32_t* how) {
  const bool is_pair = code.type == Type::kF16x2 || code.type == Type::kBF16x2;
  const bool is_brain = code.type == Type::kBF16 || code.type == Type::kBF16x2;
  const bool is_tf32 = code.type == Type::kTF32;
  if (!is_pair && !is_brain && !is_tf32 && code.type != Type::kF16) return {};
  if (code.sat && (code.relu || code.sat_finite || is_pair || is_brain || is_tf32)) return {};
  if (code.sat_finite && code.src_type != Type::kF32) return {};
  *how = How(code.rounding, after_of(code), is_brain).packed();
  const bool same = code.type == code.src_type;
  const bool to_whole = code.rounding >= Rounding::kRni;
  if (is_tf32) {
    const bool known = code.rounding == Rounding::kRna || code.rounding == Rounding::kRn ||
                       code.rounding == Rounding::kRz;
    return known && code.src_type == Type::kF32 ? both(&tf32_lanes) : Handlers{};
  }
  if (code.rounding == Rounding::kRna || (to_whole && !same)) return {};
  if (code.rounding == Rounding::kNone && !same) return {};
  if (is_pair) {
    if (code.src_type != Type::kF32 || code.src.size() != 2) return {};
    return both(code.ftz ? &narrowed_pair<FromFloat<true>> : &narrowed_pair<FromFloat<false>>);
  }
  return by_source(code);
}

}  // namespace warpsim
