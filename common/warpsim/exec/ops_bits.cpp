// Logic, shifts, bit fields and bit counting.

#include <bit>

#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::Opcode;
using ptx::ShiftMode;

struct And {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b) {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  static Reg<T> f(Reg<T> a) {
    return put(T(~a));
  }
};
struct Cnot {
  template <class T>
  static Reg<T> f(Reg<T> a) {
    return T(a) == 0 ? 1 : 0;
  }
};

// Shift counts beyond the width give 0, or the sign.
struct Shl {
  template <class T>
  static Reg<T> f(Reg<T> a, uint32_t n) {
    return n < 8 * sizeof(T) ? put(T(a << n)) : 0;
  }
};
struct Shr {
  template <class T>
  static Reg<T> f(Reg<T> a, uint32_t n) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return put(T(T(a) >> (n < kBits ? n : kBits - 1)));
    return n < kBits ? put(T(T(a) >> n)) : 0;
  }
};

uint32_t shf_left(uint32_t low, uint32_t high, uint32_t n) {
  return n == 0 ? high : n >= 32 ? low : high << n | low >> (32 - n);
}
uint32_t shf_right(uint32_t low, uint32_t high, uint32_t n) {
  return n == 0 ? low : n >= 32 ? high : high << (32 - n) | low >> n;
}
uint32_t shf_l_wrap(uint32_t a, uint32_t b, uint32_t n) {
  return shf_left(a, b, n & 31);
}
uint32_t shf_r_wrap(uint32_t a, uint32_t b, uint32_t n) {
  return shf_right(a, b, n & 31);
}
uint32_t shf_l_clamp(uint32_t a, uint32_t b, uint32_t n) {
  return shf_left(a, b, n < 32 ? n : 32);
}
uint32_t shf_r_clamp(uint32_t a, uint32_t b, uint32_t n) {
  return shf_right(a, b, n < 32 ? n : 32);
}

uint32_t popc32(uint32_t a) {
  return uint32_t(std::popcount(a));
}
uint32_t popc64(uint64_t a) {
  return uint32_t(std::popcount(a));
}
uint32_t clz32(uint32_t a) {
  return uint32_t(std::countl_zero(a));
}
uint32_t clz64(uint64_t a) {
  return uint32_t(std::countl_zero(a));
}
struct Brev {
  template <class T>
  static Reg<T> f(Reg<T> a) {
    Reg<T> r = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i) r |= Reg<T>(a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return r;
  }
};

// Position of the highest bit that differs from the sign; .shiftamt: how far to shift to bring it
// to the top.
template <class T, bool kShiftAmount>
uint32_t bfind(Reg<T> a) {
  using U = std::make_unsigned_t<T>;
  const U value = std::is_signed_v<T> && T(a) < 0 ? U(~a) : U(a);
  if (value == 0) return 0xFFFFFFFF;
  const uint32_t position = uint32_t(8 * sizeof(T) - 1) - uint32_t(std::countl_zero(value));
  return kShiftAmount ? uint32_t(8 * sizeof(T) - 1) - position : position;
}

struct Bfe {
  template <class T>
  static Reg<T> f(Reg<T> a, uint32_t b, uint32_t c) {
    constexpr uint32_t kTop = 8 * sizeof(T) - 1;
    const uint32_t position = b & 0xFF, length = c & 0xFF;
    using U = std::make_unsigned_t<T>;
    if (length == 0) return 0;
    const uint32_t sign_at = position + length - 1 < kTop ? position + length - 1 : kTop;
    const bool sign = std::is_signed_v<T> && (U(a) >> sign_at & 1);
    U field = position > kTop ? U(0) : U(U(a) >> position);
    if (length <= kTop) field &= U((U(1) << length) - 1);
    const uint32_t valid =
        position > kTop ? 0 : (length < kTop + 1 - position ? length : kTop + 1 - position);
    if (sign && valid <= kTop) field |= U(~U(0)) << valid;
    return put(T(field));
  }
};
// Inserts the low bits of a into b.
struct Bfi {
  template <class T>
  static Reg<T> f(Reg<T> a, Reg<T> b, uint32_t position, uint32_t length) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    position &= 0xFF;
    length &= 0xFF;
    if (length == 0 || position >= kBits) return b;
    const T ones = length >= kBits ? T(~T(0)) : T((T(1) << length) - 1);
    const T field = T(ones << position);
    return T((b & T(~field)) | (T(a << position) & field));
  }
};

// A mask of b bits from bit a on.
template <bool kClamp>
uint32_t bmsk(uint32_t a, uint32_t b) {
  const uint32_t from = a & 31, end = from + (b & 31);
  if (kClamp && a >= 32) return 0;
  const uint32_t above = end >= 32 || (kClamp && b >= 32) ? 0 : ~0u << end;
  return ~0u << from & ~above;
}

// The low b bits of a, extended to all.
template <bool kClamp, bool kSigned>
uint32_t szext(uint32_t a, uint32_t b) {
  if (kClamp && b >= 32) return a;
  const uint32_t bits = b & 31;
  if (bits == 0) return 0;
  const uint32_t above = ~0u << bits;
  return kSigned && (a >> (bits - 1) & 1) != 0 ? a | above : a & ~above;
}

// Where the |offset|-th set bit lies, counted from `base` up (or down); -1: nowhere.
uint32_t fns(uint32_t mask, uint32_t base, uint32_t offset) {
  const auto wanted = int32_t(offset);
  if (wanted == 0) return base < 32 && (mask >> base & 1) != 0 ? base : ~0u;
  int64_t left = wanted < 0 ? -int64_t{wanted} : wanted;
  for (int64_t at = base; at >= 0 && at<32; at += wanted> 0 ? 1 : -1) {
    if ((mask >> at & 1) != 0 && --left == 0) return uint32_t(at);
  }
  return ~0u;
}

Handlers select_szext(const ptx::Instruction& code) {
  if (ptx::size_bytes(code.type) != 4) return {};
  const bool is_signed = ptx::is_signed(code.type);
  if (code.limit == ptx::LimitMode::kClamp)
    return is_signed ? lifted<&szext<true, true>>() : lifted<&szext<true, false>>();
  return is_signed ? lifted<&szext<false, true>>() : lifted<&szext<false, false>>();
}

uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t r = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t s = selector >> (4 * i) & 15;
    uint32_t byte = uint32_t(bytes >> (8 * (s & 7))) & 0xFF;
    if (s & 8) byte = byte & 0x80 ? 0xFF : 0;
    r |= byte << (8 * i);
  }
  return r;
}
// The special modes are selectors that depend on the low two bits of the operand.
template <ptx::PrmtMode kMode>
uint32_t prmt_mode(uint32_t a, uint32_t b, uint32_t c) {
  using M = ptx::PrmtMode;
  constexpr uint32_t kSelectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
      {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
      {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
  return prmt(a, b, kSelectors[int(kMode) - int(M::kF4e)][c & 3]);
}

// Handlers with four sources, or with an immediate: b is the row at op->e.
template <class T, bool kFull>
const Op* bfi_lanes(Warp& w, const Op* op) {
  Reg<T>* d = row<Reg<T>>(w, op->d);
  const Reg<T>*a = row<Reg<T>>(w, op->a), *b = row<Reg<T>>(w, op->b);
  const uint32_t *c = row<uint32_t>(w, op->c), *e = row<uint32_t>(w, op->e);
  const uint32_t mask = w.mask;
  WARPSIM_FOR_LANES if (kFull || (mask >> i & 1)) d[i] = Bfi::f<T>(a[i], b[i], c[i], e[i]);
  return op + 1;
}
template <bool kFull>
const Op* lop3_lanes(Warp& w, const Op* op) {
  uint32_t* d = row<uint32_t>(w, op->d);
  const uint32_t *a = row<uint32_t>(w, op->a), *b = row<uint32_t>(w, op->b),
                 *c = row<uint32_t>(w, op->c);
  const uint32_t table = op->lookup.table, mask = w.mask;
  for (int i = 0; i < kLanes; ++i) {
    if (!kFull && !(mask >> i & 1)) continue;
    uint32_t r = 0;
    for (int k = 0; k < 8; ++k) {
      if (table >> k & 1)
        r |= (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) & (k & 1 ? c[i] : ~c[i]);
    }
    d[i] = r;
  }
  return op + 1;
}

Handlers select_prmt(ptx::PrmtMode mode) {
  using M = ptx::PrmtMode;
  switch (mode) {
    case M::kNone:
      return lifted<&prmt>();
    case M::kF4e:
      return lifted<&prmt_mode<M::kF4e>>();
    case M::kB4e:
      return lifted<&prmt_mode<M::kB4e>>();
    case M::kRc8:
      return lifted<&prmt_mode<M::kRc8>>();
    case M::kEcl:
      return lifted<&prmt_mode<M::kEcl>>();
    case M::kEcr:
      return lifted<&prmt_mode<M::kEcr>>();
    case M::kRc16:
      return lifted<&prmt_mode<M::kRc16>>();
  }
  return {};
}

Handlers select_shf(ShiftMode mode) {
  switch (mode) {
    case ShiftMode::kLeftWrap:
      return lifted<&shf_l_wrap>();
    case ShiftMode::kRightWrap:
      return lifted<&shf_r_wrap>();
    case ShiftMode::kLeftClamp:
      return lifted<&shf_l_clamp>();
    case ShiftMode::kRightClamp:
      return lifted<&shf_r_clamp>();
    default:
      return {};
  }
}

template <bool kShiftAmount>
Handlers select_bfind(ptx::Type type) {
  switch (type) {
    case ptx::Type::kU32:
      return lifted<&bfind<uint32_t, kShiftAmount>>();
    case ptx::Type::kS32:
      return lifted<&bfind<int32_t, kShiftAmount>>();
    case ptx::Type::kU64:
      return lifted<&bfind<uint64_t, kShiftAmount>>();
    case ptx::Type::kS64:
      return lifted<&bfind<int64_t, kShiftAmount>>();
    default:
      return {};
  }
}

Handlers select_bfe(ptx::Type type) {
  switch (type) {
    case ptx::Type::kU32:
      return lifted<&Bfe::f<uint32_t>>();
    case ptx::Type::kS32:
      return lifted<&Bfe::f<int32_t>>();
    case ptx::Type::kU64:
      return lifted<&Bfe::f<uint64_t>>();
    case ptx::Type::kS64:
      return lifted<&Bfe::f<int64_t>>();
    default:
      return {};
  }
}

Handlers select_bfi(bool wide) {
  if (wide)
    return {&bfi_lanes<uint64_t, true>, &bfi_lanes<uint64_t, false>, true, true, true, false};
  return {&bfi_lanes<uint32_t, true>, &bfi_lanes<uint32_t, false>};
}

}  // namespace

Handlers select_bits(const ptx::Instruction& code) {
  const bool wide = ptx::size_bytes(code.type) == 8;
  switch (code.op) {
    case Opcode::kAnd:
      return by_width<And>(code.type);
    case Opcode::kOr:
      return by_width<Or>(code.type);
    case Opcode::kXor:
      return by_width<Xor>(code.type);
    case Opcode::kNot:
      return by_width<Not>(code.type);
    case Opcode::kCnot:
      return by_width<Cnot>(code.type);
    case Opcode::kShl:
      return by_width<Shl>(code.type);
    case Opcode::kShr:
      return by_integer_type<Shr>(code.type);
    case Opcode::kShf:
      return select_shf(code.shift);
    case Opcode::kPopc:
      return wide ? lifted<&popc64>() : lifted<&popc32>();
    case Opcode::kClz:
      return wide ? lifted<&clz64>() : lifted<&clz32>();
    case Opcode::kBrev:
      return by_width<Brev>(code.type);
    case Opcode::kBfind:
      return code.mnemonic.find("shiftamt") != std::string::npos ? select_bfind<true>(code.type)
                                                                 : select_bfind<false>(code.type);
    case Opcode::kBfe:
      return select_bfe(code.type);
    case Opcode::kBfi:
      return select_bfi(wide);
    case Opcode::kBmsk:
      return code.limit == ptx::LimitMode::kClamp ? lifted<&bmsk<true>>() : lifted<&bmsk<false>>();
    case Opcode::kSzext:
      return select_szext(code);
    case Opcode::kFns:
      return lifted<&fns>();
    case Opcode::kLop3:
      return {&lop3_lanes<true>, &lop3_lanes<false>};
    case Opcode::kPrmt:
      return select_prmt(code.prmt);
    default:
      return {};
  }
}

}  // namespace warpsim
