// Integer arithmetic. Division by zero gives all ones, as the GPU's instruction sequence does.

#include <limits>

#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::MulPart;
using ptx::Opcode;

template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

struct Add {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return put(T(a + b));
  }
};
struct Sub {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return put(T(a - b));
  }
};
struct MulLo {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return put(T(a * b));
  }
};
struct MulHi {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return put(T(Wide<T>(T(a)) * Wide<T>(T(b)) >> (8 * sizeof(T))));
  }
};
struct MulWide {
  template <class T>
  static Reg<Wide<T>> f(Reg<T> a, Reg<T> b) {
    return put(Wide<T>(Wide<T>(T(a)) * Wide<T>(T(b))));
  }
};
struct MadLo {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b, Reg<T> c) {
    return put(T(a * b + c));
  }
};
struct MadHi {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b, Reg<T> c) {
    return put(T(MulHi::f<T>(a, b) + c));
  }
};
struct MadWide {
  template <class T>
  static Reg<Wide<T>> f(Reg<T> a, Reg<T> b, Reg<Wide<T>> c) {
    return Reg<Wide<T>>(MulWide::f<T>(a, b) + c);
  }
};
struct Div {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    if (T(b) == 0) return put(T(-1));
    if (std::is_signed_v<T> && T(b) == T(-1))
      return put(T(0 - a));  // the most negative number stays
    return put(T(T(a) / T(b)));
  }
};
struct Rem {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    if (T(b) == 0) return put(T(a));
    if (std::is_signed_v<T> && T(b) == T(-1)) return 0;
    return put(T(T(a) % T(b)));
  }
};
struct Abs {
  template <class T>
  static Reg<T> f(Reg<T> a) {
    return T(a) < 0 ? put(T(0 - a)) : put(T(a));
  }
};
struct Neg {
  template <class T>
  static Reg<T> f(Reg<T> a) {
    return put(T(0 - a));
  }
};
struct Min {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return put(T(a) < T(b) ? T(a) : T(b));
  }
};
struct Max {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return put(T(a) > T(b) ? T(a) : T(b));
  }
};
struct Sad {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b, Reg<T> c) {
    return put(T(c + (T(a) < T(b) ? b - a : a - b)));
  }
};

uint32_t add_sat(uint32_t a, uint32_t b) {
  const int64_t sum = int64_t{int32_t(a)} + int32_t(b);
  return uint32_t(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}
uint32_t sub_sat(uint32_t a, uint32_t b) {
  const int64_t difference = int64_t{int32_t(a)} - int32_t(b);
  return uint32_t(difference > INT32_MAX   ? INT32_MAX
                  : difference < INT32_MIN ? INT32_MIN
                                           : difference);
}

int32_t low24s(uint32_t a) {
  return int32_t(a << 8) >> 8;
}
uint32_t mul24_lo_u(uint32_t a, uint32_t b) {
  return (a & 0xFFFFFF) * (b & 0xFFFFFF);
}
uint32_t mul24_lo_s(uint32_t a, uint32_t b) {
  return uint32_t(int64_t{low24s(a)} * low24s(b));
}
uint32_t mul24_hi_u(uint32_t a, uint32_t b) {
  return uint32_t(uint64_t{a & 0xFFFFFF} * (b & 0xFFFFFF) >> 16);
}
uint32_t mul24_hi_s(uint32_t a, uint32_t b) {
  return uint32_t(int64_t{low24s(a)} * low24s(b) >> 16);
}
uint32_t mad24_lo_u(uint32_t a, uint32_t b, uint32_t c) {
  return mul24_lo_u(a, b) + c;
}
uint32_t mad24_lo_s(uint32_t a, uint32_t b, uint32_t c) {
  return mul24_lo_s(a, b) + c;
}
uint32_t saturated(int64_t x) {
  return uint32_t(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
uint32_t mad24_hi_sat(uint32_t a, uint32_t b, uint32_t c) {
  return saturated(int64_t{int32_t(mul24_hi_s(a, b))} + int32_t(c));
}
uint32_t mad_hi_sat(uint32_t a, uint32_t b, uint32_t c) {
  return saturated((int64_t{int32_t(a)} * int32_t(b) >> 32) + int32_t(c));
}
uint32_t mad24_hi_u(uint32_t a, uint32_t b, uint32_t c) {
  return mul24_hi_u(a, b) + c;
}
uint32_t mad24_hi_s(uint32_t a, uint32_t b, uint32_t c) {
  return mul24_hi_s(a, b) + c;
}

// Sum of products of bytes; A and B say how the bytes of each operand are read.
template <class A, class B>
uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < 4; ++i) c += uint32_t(int32_t(A(a >> (8 * i))) * int32_t(B(b >> (8 * i))));
  return c;
}
template <class A, class B, int kHalf>
uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c) {
  using A16 = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  for (int i = 0; i < 2; ++i)
    c += uint32_t(int32_t(A16(a >> (16 * i))) * int32_t(B(b >> (8 * i + 16 * kHalf))));
  return c;
}

Handlers select_mul24(const ptx::Instruction& code) {
  const bool is_signed = ptx::is_signed(code.type), high = code.part == MulPart::kHi;
  if (code.op == Opcode::kMul24) {
    if (high) return is_signed ? lifted<&mul24_hi_s>() : lifted<&mul24_hi_u>();
    return is_signed ? lifted<&mul24_lo_s>() : lifted<&mul24_lo_u>();
  }
  if (code.sat) return high && is_signed ? lifted<&mad24_hi_sat>() : Handlers{};
  if (high) return is_signed ? lifted<&mad24_hi_s>() : lifted<&mad24_hi_u>();
  return is_signed ? lifted<&mad24_lo_s>() : lifted<&mad24_lo_u>();
}

Handlers select_dp(const ptx::Instruction& code) {
  const bool a_signed = ptx::is_signed(code.type);
  const bool b_signed =
      ptx::is_signed(code.src_type == ptx::Type::kNone ? code.type : code.src_type);
  if (code.op == Opcode::kDp4a) {
    if (a_signed)
      return b_signed ? lifted<&dp4a<int8_t, int8_t>>() : lifted<&dp4a<int8_t, uint8_t>>();
    return b_signed ? lifted<&dp4a<uint8_t, int8_t>>() : lifted<&dp4a<uint8_t, uint8_t>>();
  }
  const bool high = code.part == MulPart::kHi;
  if (high) {
    if (a_signed)
      return b_signed ? lifted<&dp2a<int8_t, int8_t, 1>>() : lifted<&dp2a<int8_t, uint8_t, 1>>();
    return b_signed ? lifted<&dp2a<uint8_t, int8_t, 1>>() : lifted<&dp2a<uint8_t, uint8_t, 1>>();
  }
  if (a_signed)
    return b_signed ? lifted<&dp2a<int8_t, int8_t, 0>>() : lifted<&dp2a<int8_t, uint8_t, 0>>();
  return b_signed ? lifted<&dp2a<uint8_t, int8_t, 0>>() : lifted<&dp2a<uint8_t, uint8_t, 0>>();
}

template <class Operation>
Handlers widening(ptx::Type type) {
  switch (type) {
    case ptx::Type::kU16:
      return lifted<&Operation::template f<uint16_t>>();
    case ptx::Type::kS16:
      return lifted<&Operation::template f<int16_t>>();
    case ptx::Type::kU32:
      return lifted<&Operation::template f<uint32_t>>();
    case ptx::Type::kS32:
      return lifted<&Operation::template f<int32_t>>();
    default:
      return {};
  }
}

Handlers select_multiply(const ptx::Instruction& code) {
  const bool mad = code.op == Opcode::kMad;
  if (code.sat) {
    const bool known = mad && code.part == MulPart::kHi && code.type == ptx::Type::kS32;
    return known ? lifted<&mad_hi_sat>() : Handlers{};
  }
  switch (code.part) {
    case MulPart::kWide:
      return mad ? widening<MadWide>(code.type) : widening<MulWide>(code.type);
    case MulPart::kHi:
      return mad ? by_integer_type<MadHi>(code.type) : by_integer_type<MulHi>(code.type);
    default:
      return mad ? by_width<MadLo>(code.type) : by_width<MulLo>(code.type);
  }
}

}  // namespace

Handlers select_integer(const ptx::Instruction& code) {
  if (code.carry_out) return {};
  switch (code.op) {
    case Opcode::kAdd:
      return code.sat ? lifted<&add_sat>() : by_width<Add>(code.type);
    case Opcode::kSub:
      return code.sat ? lifted<&sub_sat>() : by_width<Sub>(code.type);
    case Opcode::kMul:
    case Opcode::kMad:
      return select_multiply(code);
    case Opcode::kMul24:
    case Opcode::kMad24:
      return select_mul24(code);
    case Opcode::kDiv:
      return by_integer_type<Div>(code.type);
    case Opcode::kRem:
      return by_integer_type<Rem>(code.type);
    case Opcode::kAbs:
      return by_integer_type<Abs>(code.type);
    case Opcode::kNeg:
      return by_width<Neg>(code.type);
    case Opcode::kMin:
      return by_integer_type<Min>(code.type);
    case Opcode::kMax:
      return by_integer_type<Max>(code.type);
    case Opcode::kSad:
      return by_integer_type<Sad>(code.type);
    case Opcode::kDp4a:
    case Opcode::kDp2a:
      return select_dp(code);
    default:
      return {};
  }
}

}  // namespace warpsim
