// Comparisons and selections.

#include "warpsim/exec/float_math.h"
#include "warpsim/exec/half_math.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::BoolOp;
using ptx::CmpOp;
using ptx::Opcode;
using ptx::Type;

// How a type's registers are read for a comparison.
template <class T, bool kFtz = false>
struct Reader {
  using Value = T;
  using Row = Reg<T>;
  static T get(Row bits) { return T(bits); }
};
template <bool kFtz>
struct Reader<float, kFtz> {
  using Value = float;
  using Row = uint32_t;
  static float get(uint32_t bits) { return math::f32(math::input<kFtz>(bits)); }
};
template <>
struct Reader<double> {
  using Value = double;
  using Row = uint64_t;
  static double get(uint64_t bits) { return math::f64(bits); }
};

// The half of a register that begins at bit kShift.
template <class N, int kShift, bool kFtz>
struct HalfReader {
  using Value = float;
  using Row = uint32_t;
  static float get(uint32_t bits) {
    const auto code = uint16_t(bits >> kShift);
    const bool is_small = (code & N::kInfinity) == 0;
    return float(N::get(kFtz && is_small ? code & 0x8000 : code));
  }
};

// eq, ne, lt, le, gt, ge; the unordered forms (equ, ...) are true when an operand is a NaN.
struct Eq {
  template <class T>
  static bool f(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static bool f(T a, T b) {
    return (a < b) | (a > b);
  }
};
struct Lt {
  template <class T>
  static bool f(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool f(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  static bool f(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static bool f(T a, T b) {
    return a >= b;
  }
};
struct Equ {
  template <class T>
  static bool f(T a, T b) {
    return !((a < b) | (a > b));
  }
};
struct Neu {
  template <class T>
  static bool f(T a, T b) {
    return a != b;
  }
};
struct Ltu {
  template <class T>
  static bool f(T a, T b) {
    return !(a >= b);
  }
};
struct Leu {
  template <class T>
  static bool f(T a, T b) {
    return !(a > b);
  }
};
struct Gtu {
  template <class T>
  static bool f(T a, T b) {
    return !(a <= b);
  }
};
struct Geu {
  template <class T>
  static bool f(T a, T b) {
    return !(a < b);
  }
};
struct Num {
  template <class T>
  static bool f(T a, T b) {
    return (a == a) & (b == b);
  }
};
struct Nan {
  template <class T>
  static bool f(T a, T b) {
    return (a != a) | (b != b);
  }
};

template <class R, class Compare>
inline uint32_t compare(const Warp& w, const Op* op) {
  const auto *a = row<typename R::Row>(w, op->a), *b = row<typename R::Row>(w, op->b);
  alignas(64) int32_t flags[kLanes];
  WARPSIM_FOR_LANES flags[i] = -int32_t(Compare::f(R::get(a[i]), R::get(b[i])));
  return bits_of(flags);
}

template <class R, class Compare>
const Op* setp(Warp& w, const Op* op) {
  set_predicate(w, op->d, compare<R, Compare>(w, op));
  return op + 1;
}

inline uint32_t combine(BoolOp how, uint32_t result, uint32_t c) {
  switch (how) {
    case BoolOp::kAnd:
      return result & c;
    case BoolOp::kOr:
      return result | c;
    case BoolOp::kXor:
      return result ^ c;
    default:
      return result;
  }
}

// With a second result or a predicate to combine with. aux: BoolOp | negated c << 8; e: second
// result, 0: none.
template <class R, class Compare>
const Op* setp_combined(Warp& w, const Op* op) {
  const uint32_t result = compare<R, Compare>(w, op);
  const BoolOp how = op->compare.combine;
  uint32_t c = how == BoolOp::kNone ? 0 : predicate(w, op->c);
  if (op->compare.negated) c = ~c;
  if (op->e != 0) set_predicate(w, op->e, combine(how, ~result, c));
  set_predicate(w, op->d, combine(how, result, c));
  return op + 1;
}

// set: Op::Compare::yes where the comparison holds.
template <class R, class Compare>
const Op* set_row(Warp& w, const Op* op) {
  const BoolOp how = op->compare.combine;
  uint32_t c = how == BoolOp::kNone ? 0 : predicate(w, op->c);
  if (op->compare.negated) c = ~c;
  const uint32_t bits = combine(how, compare<R, Compare>(w, op), c);
  const uint32_t yes = op->compare.yes;
  uint32_t* d = row<uint32_t>(w, op->d);
  for_each_lane(w.mask, [&](int i) { d[i] = bits >> i & 1 ? yes : 0; });
  return op + 1;
}

// Of pairs: setp's first result is that of the low halves, its second that of the high ones; of set
// each half of the row.
template <class Low, class High, class Compare, bool kSet>
const Op* compared_pairs(Warp& w, const Op* op) {
  const BoolOp how = op->compare.combine;
  uint32_t c = how == BoolOp::kNone ? 0 : predicate(w, op->c);
  if (op->compare.negated) c = ~c;
  const uint32_t low = combine(how, compare<Low, Compare>(w, op), c);
  const uint32_t high = combine(how, compare<High, Compare>(w, op), c);
  if (!kSet) {
    set_predicate(w, op->d, low);
    if (op->e != 0) set_predicate(w, op->e, high);
    return op + 1;
  }
  const uint32_t yes = op->compare.yes;
  uint32_t* d = row<uint32_t>(w, op->d);
  for_each_lane(w.mask,
                [&](int i) { d[i] = (low >> i & 1 ? yes : 0) | (high >> i & 1 ? yes << 16 : 0); });
  return op + 1;
}

enum class Form { kPlain, kCombined, kRow, kPairs, kPairRow };

template <class R>
struct HighOf;
template <class N, bool kFtz>
struct HighOf<HalfReader<N, 0, kFtz>> {
  using Reader = HalfReader<N, 16, kFtz>;
};

template <bool kSet, class R, class Compare>
Handlers pairs() {
  constexpr Handler h = &compared_pairs<R, typename HighOf<R>::Reader, Compare, kSet>;
  return {h, h};
}

template <Form kForm, class R, class Compare>
Handlers compared() {
  if constexpr (kForm == Form::kPairs || kForm == Form::kPairRow) {
    return pairs<kForm == Form::kPairRow, R, Compare>();
  } else {
    constexpr bool kWide = sizeof(typename R::Row) == 8;
    constexpr Handler h = kForm == Form::kPlain      ? &setp<R, Compare>
                          : kForm == Form::kCombined ? &setp_combined<R, Compare>
                                                     : &set_row<R, Compare>;
    return {h, h, false, kWide, kWide, false};
  }
}

template <Form kForm, class R>
Handlers by_comparison(CmpOp cmp) {
  switch (cmp) {
    case CmpOp::kEq:
      return compared<kForm, R, Eq>();
    case CmpOp::kNe:
      return compared<kForm, R, Ne>();
    case CmpOp::kLo:
    case CmpOp::kLt:
      return compared<kForm, R, Lt>();
    case CmpOp::kLs:
    case CmpOp::kLe:
      return compared<kForm, R, Le>();
    case CmpOp::kHi:
    case CmpOp::kGt:
      return compared<kForm, R, Gt>();
    case CmpOp::kHs:
    case CmpOp::kGe:
      return compared<kForm, R, Ge>();
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<typename R::Value>) {
    switch (cmp) {
      case CmpOp::kEqu:
        return compared<kForm, R, Equ>();
      case CmpOp::kNeu:
        return compared<kForm, R, Neu>();
      case CmpOp::kLtu:
        return compared<kForm, R, Ltu>();
      case CmpOp::kLeu:
        return compared<kForm, R, Leu>();
      case CmpOp::kGtu:
        return compared<kForm, R, Gtu>();
      case CmpOp::kGeu:
        return compared<kForm, R, Geu>();
      case CmpOp::kNum:
        return compared<kForm, R, Num>();
      case CmpOp::kNan:
        return compared<kForm, R, Nan>();
      default:
        break;
    }
  }
  return {};
}

template <Form kForm, class N>
Handlers by_halves(CmpOp cmp, bool ftz) {
  return ftz ? by_comparison<kForm, HalfReader<N, 0, true>>(cmp)
             : by_comparison<kForm, HalfReader<N, 0, false>>(cmp);
}

template <Form kForm>
Handlers by_operand_type(Type type, CmpOp cmp, bool ftz) {
  constexpr Form kOfPairs = kForm == Form::kRow ? Form::kPairRow : Form::kPairs;
  switch (type) {
    case Type::kF16:
      return by_halves<kForm, math::Half>(cmp, ftz);
    case Type::kBF16:
      return by_halves<kForm, math::Brain>(cmp, ftz);
    case Type::kF16x2:
      return by_halves<kOfPairs, math::Half>(cmp, ftz);
    case Type::kBF16x2:
      return by_halves<kOfPairs, math::Brain>(cmp, ftz);
    default:
      break;
  }
  const bool is_unsigned =
      cmp == CmpOp::kLo || cmp == CmpOp::kLs || cmp == CmpOp::kHi || cmp == CmpOp::kHs;
  switch (type) {
    case Type::kB16:
    case Type::kU16:
      return by_comparison<kForm, Reader<uint16_t>>(cmp);
    case Type::kS16:
      return is_unsigned ? by_comparison<kForm, Reader<uint16_t>>(cmp)
                         : by_comparison<kForm, Reader<int16_t>>(cmp);
    case Type::kB32:
    case Type::kU32:
      return by_comparison<kForm, Reader<uint32_t>>(cmp);
    case Type::kS32:
      return is_unsigned ? by_comparison<kForm, Reader<uint32_t>>(cmp)
                         : by_comparison<kForm, Reader<int32_t>>(cmp);
    case Type::kB64:
    case Type::kU64:
      return by_comparison<kForm, Reader<uint64_t>>(cmp);
    case Type::kS64:
      return is_unsigned ? by_comparison<kForm, Reader<uint64_t>>(cmp)
                         : by_comparison<kForm, Reader<int64_t>>(cmp);
    case Type::kF32:
      return ftz ? by_comparison<kForm, Reader<float, true>>(cmp)
                 : by_comparison<kForm, Reader<float>>(cmp);
    case Type::kF64:
      return by_comparison<kForm, Reader<double>>(cmp);
    default:
      return {};
  }
}

// d = p ? a : b, the predicate at op->c.
template <class T, bool kFull>
const Op* selp(Warp& w, const Op* op) {
  T* d = row<T>(w, op->d);
  const T *a = row<T>(w, op->a), *b = row<T>(w, op->b);
  const uint32_t p = op->negated.c ? ~predicate(w, op->c) : predicate(w, op->c), mask = w.mask;
  WARPSIM_FOR_LANES {
    const T value = p >> i & 1 ? a[i] : b[i];
    d[i] = kFull || (mask >> i & 1) ? value : d[i];
  }
  return op + 1;
}

uint32_t slct32_s(uint32_t a, uint32_t b, uint32_t c) {
  return int32_t(c) >= 0 ? a : b;
}
uint64_t slct64_s(uint64_t a, uint64_t b, uint32_t c) {
  return int32_t(c) >= 0 ? a : b;
}
uint32_t slct32_f(uint32_t a, uint32_t b, uint32_t c) {
  return math::f32(c) >= 0.0f ? a : b;
}
uint64_t slct64_f(uint64_t a, uint64_t b, uint32_t c) {
  return math::f32(c) >= 0.0f ? a : b;
}

}  // namespace

Handlers select_setp(const ptx::Instruction& code) {
  const bool combined = code.bool_op != BoolOp::kNone || code.dst.size() > 1;
  return combined ? by_operand_type<Form::kCombined>(code.type, code.cmp, code.ftz)
                  : by_operand_type<Form::kPlain>(code.type, code.cmp, code.ftz);
}

Handlers select_set(const ptx::Instruction& code) {
  return by_operand_type<Form::kRow>(code.src_type, code.cmp, code.ftz);
}

Handlers select_selp(const ptx::Instruction& code) {
  const bool wide = ptx::size_bytes(code.type) == 8;
  if (code.op == Opcode::kSelp) {
    if (wide) return {&selp<uint64_t, true>, &selp<uint64_t, false>, true, true, true, false};
    return {&selp<uint32_t, true>, &selp<uint32_t, false>};
  }
  if (code.src_type == Type::kF32) return wide ? lifted<&slct64_f>() : lifted<&slct32_f>();
  return wide ? lifted<&slct64_s>() : lifted<&slct32_s>();
}

}  // namespace warpsim
