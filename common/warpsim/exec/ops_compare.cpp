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

// The comparison that Op::Compare::when names: for forms that are too rare to have a handler each.
template <class R>
inline uint32_t compare_as_told(const Warp& w, const Op* op) {
  const auto *a = row<typename R::Row>(w, op->a), *b = row<typename R::Row>(w, op->b);
  const int32_t when = op->compare.when;
  alignas(64) int32_t flags[kLanes];
  WARPSIM_FOR_LANES {
    const auto x = R::get(a[i]), y = R::get(b[i]);
    const int32_t is = x < y ? 1 : x == y ? 2 : x > y ? 4 : 8;
    flags[i] = -int32_t((is & when) != 0);
  }
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

// Predicate c as the comparison is combined with it.
inline uint32_t told(const Warp& w, const Op* op) {
  if (op->compare.combine == BoolOp::kNone) return op->compare.negated ? ~0u : 0;
  const uint32_t c = predicate(w, op->c);
  return op->compare.negated ? ~c : c;
}

// With a second result or a predicate to combine with. e: second result, 0: none.
inline const Op* set_combined(Warp& w, const Op* op, uint32_t result) {
  const BoolOp how = op->compare.combine;
  const uint32_t c = told(w, op);
  if (op->e != 0) set_predicate(w, op->e, combine(how, ~result, c));
  set_predicate(w, op->d, combine(how, result, c));
  return op + 1;
}

template <class R, class Compare>
const Op* setp_combined(Warp& w, const Op* op) {
  return set_combined(w, op, compare<R, Compare>(w, op));
}

template <class R>
const Op* setp_as_told(Warp& w, const Op* op) {
  return set_combined(w, op, compare_as_told<R>(w, op));
}

// set: Op::Compare::yes where the comparison holds.
template <class R>
const Op* set_row(Warp& w, const Op* op) {
  const uint32_t bits = combine(op->compare.combine, compare_as_told<R>(w, op), told(w, op));
  const uint32_t yes = op->compare.yes;
  uint32_t* d = row<uint32_t>(w, op->d);
  for_each_lane(w.mask, [&](int i) { d[i] = bits >> i & 1 ? yes : 0; });
  return op + 1;
}

// Of pairs: setp's first result is that of the low halves, its second that of the high ones; of set
// each half of the row.
template <class Low, class High, bool kSet>
const Op* compared_pairs(Warp& w, const Op* op) {
  const BoolOp how = op->compare.combine;
  const uint32_t c = told(w, op);
  const uint32_t low = combine(how, compare_as_told<Low>(w, op), c);
  const uint32_t high = combine(how, compare_as_told<High>(w, op), c);
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

enum class Form { kPlain, kCombined, kRow };

template <class R>
constexpr Handlers handlers(Handler h) {
  constexpr bool kWide = sizeof(typename R::Row) == 8;
  return {h, h, false, kWide, kWide, false};
}

template <Form kForm, class R, class Compare>
Handlers compared() {
  return handlers<R>(kForm == Form::kPlain ? &setp<R, Compare> : &setp_combined<R, Compare>);
}

// What only numbers that may be NaNs can be asked.
bool is_for_floats(CmpOp cmp) {
  switch (cmp) {
    case CmpOp::kEqu:
    case CmpOp::kNeu:
    case CmpOp::kLtu:
    case CmpOp::kLeu:
    case CmpOp::kGtu:
    case CmpOp::kGeu:
    case CmpOp::kNum:
    case CmpOp::kNan:
      return true;
    default:
      return false;
  }
}

template <Form kForm, class R>
Handlers by_comparison(CmpOp cmp) {
  constexpr bool kFloat = std::is_floating_point_v<typename R::Value>;
  if constexpr (kForm == Form::kRow) {
    if (cmp == CmpOp::kNone || (!kFloat && is_for_floats(cmp))) return {};
    return handlers<R>(&set_row<R>);
  } else {
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
    if constexpr (kFloat) {
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
}

template <Form kForm, class N, bool kFtz>
Handlers by_halves(CmpOp cmp, bool is_pair) {
  using Low = HalfReader<N, 0, kFtz>;
  using High = HalfReader<N, 16, kFtz>;
  if (cmp == CmpOp::kNone) return {};
  constexpr bool kRow = kForm == Form::kRow;
  if (is_pair) return handlers<Low>(&compared_pairs<Low, High, kRow>);
  return handlers<Low>(kRow ? &set_row<Low> : &setp_as_told<Low>);
}

template <Form kForm>
Handlers by_operand_type(Type type, CmpOp cmp, bool ftz) {
  const bool is_pair = type == Type::kF16x2 || type == Type::kBF16x2;
  if (type == Type::kF16 || type == Type::kF16x2)
    return ftz ? by_halves<kForm, math::Half, true>(cmp, is_pair)
               : by_halves<kForm, math::Half, false>(cmp, is_pair);
  if (type == Type::kBF16 || type == Type::kBF16x2)
    return ftz ? by_halves<kForm, math::Brain, true>(cmp, is_pair)
               : by_halves<kForm, math::Brain, false>(cmp, is_pair);
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

uint8_t cases_of(CmpOp cmp) {
  constexpr uint8_t kLess = 1, kEqual = 2, kGreater = 4, kNaN = 8;
  switch (cmp) {
    case CmpOp::kEq:
      return kEqual;
    case CmpOp::kNe:
      return kLess | kGreater;
    case CmpOp::kLt:
    case CmpOp::kLo:
      return kLess;
    case CmpOp::kLe:
    case CmpOp::kLs:
      return kLess | kEqual;
    case CmpOp::kGt:
    case CmpOp::kHi:
      return kGreater;
    case CmpOp::kGe:
    case CmpOp::kHs:
      return kGreater | kEqual;
    case CmpOp::kEqu:
      return kEqual | kNaN;
    case CmpOp::kNeu:
      return kLess | kGreater | kNaN;
    case CmpOp::kLtu:
      return kLess | kNaN;
    case CmpOp::kLeu:
      return kLess | kEqual | kNaN;
    case CmpOp::kGtu:
      return kGreater | kNaN;
    case CmpOp::kGeu:
      return kGreater | kEqual | kNaN;
    case CmpOp::kNum:
      return kLess | kEqual | kGreater;
    case CmpOp::kNan:
      return kNaN;
    default:
      return 0;
  }
}

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
