#include "warpsim/jit/lanes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "warpsim/jit/planted.h"
#include "warpsim/jit/predicates.h"

namespace warpsim::jit {

namespace {

using A = Action;
using Xbyak::Xmm;
using Reads = Assembler::Reads;

// Bit i of the vector i of 8 (or 4 wide) lanes' masks: which bit of a predicate each lane takes.
alignas(64) constexpr uint32_t kLaneBits[32] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
alignas(64) constexpr auto kWideLaneBits = [] {
  std::array<uint64_t, 32> bits{};
  for (size_t i = 0; i < 32; ++i) bits[i] = uint64_t{1} << i;
  return bits;
}();

class Lanes {
 public:
  Lanes(Assembler& code, const Op& op, const Meaning& meaning, const Constants& constants,
        bool addend_dies)
      : c_(code), op_(op), m_(meaning), constants_(constants), addend_dies_(addend_dies) {}

  bool emit();

 private:
  int narrow_vectors() const { return c_.vectors; }
  int wide_vectors() const { return 2 * c_.vectors; }
  Xmm reg(int r) const { return c_.vec(r); }

  // d = f(a), f(a, b): the sources have the destination's width. Body: (Xmm d, Xmm a, Xmm b).
  template <class Body>
  bool unary(bool wide, Body body) {
    for (int v = 0; v < (wide ? wide_vectors() : narrow_vectors()); ++v) {
      const int a = c_.use(op_.a, v);
      body(reg(c_.define(op_.d, v)), reg(a));
      c_.release();
    }
    return true;
  }
  template <class Body>
  bool binary(bool wide, Body body) {
    for (int v = 0; v < (wide ? wide_vectors() : narrow_vectors()); ++v) {
      const int a = c_.use(op_.a, v), b = c_.use(op_.b, v);
      body(reg(c_.define(op_.d, v)), reg(a), reg(b));
      c_.release();
    }
    return true;
  }
  // d = f(a, b) + c through a scratch register.
  template <class Body>
  bool product_sum(bool wide, Body product) {
    for (int v = 0; v < (wide ? wide_vectors() : narrow_vectors()); ++v) {
      const Xmm t = reg(c_.scratch());
      const int a = c_.use(op_.a, v), b = c_.use(op_.b, v);
      product(t, reg(a), reg(b));
      const int addend = c_.use(op_.c, v);
      const Xmm d = reg(c_.define(op_.d, v));
      if (wide)
        c_.vpaddq(d, t, reg(addend));
      else
        c_.vpaddd(d, t, reg(addend));
      c_.release();
    }
    return true;
  }

  bool is_overlapping() const;  // d's row is also a source of another width
  std::optional<uint64_t> constant(uint32_t row) const {
    const auto it = constants_.find(row);
    return it == constants_.end() ? std::nullopt : std::optional(it->second);
  }
  Xmm widened(uint32_t row, int v, bool is_signed);
  void multiply64(const Xmm& d, const Xmm& a, const Xmm& b);
  bool logic(bool wide);
  bool shift(bool wide);
  bool floats();
  bool square_root();
  bool fused();
  bool sign(bool negates, bool wide);
  bool min_max_floats(bool is_max);
  bool convert_integers();
  bool widen(bool is_signed);
  bool narrow();
  bool shift_wide(bool is_signed, bool adds, int by);
  bool multiply_wide(bool is_signed, bool adds);
  bool select(bool wide);

  Assembler& c_;
  const Op& op_;
  const Meaning& m_;
  const Constants& constants_;
  const bool addend_dies_;
};

bool Lanes::is_overlapping() const {
  const bool wide[3] = {m_.wide_a, m_.wide_b, m_.wide_c};
  const uint32_t rows[3] = {op_.a, op_.b, op_.c};
  const uint32_t end = op_.d + (m_.wide_d ? kRow64Bytes : kRow32Bytes);
  for (int i = 0; i < source_rows(m_.action); ++i) {
    const uint32_t source_end = rows[i] + (wide[i] ? kRow64Bytes : kRow32Bytes);
    const bool same = rows[i] == op_.d && wide[i] == m_.wide_d;
    if (!same && rows[i] < end && op_.d < source_end) return true;
  }
  return false;
}

// The 64-bit lanes of vector `v` of a wide row, from the 32-bit lanes of `row`.
Xmm Lanes::widened(uint32_t row, int v, bool is_signed) {
  const int source = c_.use(row, v / 2);
  const Xmm t = reg(c_.scratch());
  if (c_.avx512) {
    const Xbyak::Zmm to(t.getIdx());
    Xbyak::Ymm from(source);
    if (v % 2 == 1) {
      from = Xbyak::Ymm(to.getIdx());
      c_.vextracti64x4(from, Xbyak::Zmm(source), 1);
    }
    if (is_signed)
      c_.vpmovsxdq(to, from);
    else
      c_.vpmovzxdq(to, from);
  } else {
    const Xbyak::Ymm to(t.getIdx());
    Xmm from(source);
    if (v % 2 == 1) {
      from = Xmm(to.getIdx());
      c_.vextracti128(from, Xbyak::Ymm(source), 1);
    }
    if (is_signed)
      c_.vpmovsxdq(to, from);
    else
      c_.vpmovzxdq(to, from);
  }
  return t;
}

// d may be none of a and b.
void Lanes::multiply64(const Xmm& d, const Xmm& a, const Xmm& b) {
  if (c_.avx512) {
    c_.vpmullq(d, a, b);
    return;
  }
  const Xmm t = reg(c_.scratch());
  c_.vpsrlq(d, a, 32);
  c_.vpmuludq(d, d, b);
  c_.vpsrlq(t, b, 32);
  c_.vpmuludq(t, t, a);
  c_.vpaddq(d, d, t);
  c_.vpsllq(d, d, 32);
  c_.vpmuludq(t, a, b);
  c_.vpaddq(d, d, t);
}

bool Lanes::logic(bool wide) {
  switch (m_.action) {
    case A::kAnd32:
    case A::kAnd64:
      return binary(
          wide, [&](Xmm d, Xmm a, Xmm b) { c_.avx512 ? c_.vpandd(d, a, b) : c_.vpand(d, a, b); });
    case A::kOr32:
    case A::kOr64:
      return binary(wide,
                    [&](Xmm d, Xmm a, Xmm b) { c_.avx512 ? c_.vpord(d, a, b) : c_.vpor(d, a, b); });
    case A::kXor32:
    case A::kXor64:
      return binary(
          wide, [&](Xmm d, Xmm a, Xmm b) { c_.avx512 ? c_.vpxord(d, a, b) : c_.vpxor(d, a, b); });
    default:
      break;
  }
  for (int v = 0; v < (wide ? wide_vectors() : narrow_vectors()); ++v) {  // not
    const Xmm ones = c_.all_ones();
    const int a = c_.use(op_.a, v);
    const Xmm d = reg(c_.define(op_.d, v));
    c_.avx512 ? c_.vpxord(d, reg(a), ones) : c_.vpxor(d, reg(a), ones);
    c_.release();
  }
  return true;
}

// Counts beyond the width give 0, or the sign, as the processor's shifts by vectors do. Those by an
// immediate do the same up to 255.
bool Lanes::shift(bool wide) {
  const auto by = constant(op_.b);
  if (by.has_value()) {
    const auto count = uint8_t(std::min<uint64_t>(uint32_t(*by), 255));
    return unary(wide, [&](Xmm d, Xmm a) {
      switch (m_.action) {
        case A::kShl32:
          return c_.vpslld(d, a, count);
        case A::kShrU32:
          return c_.vpsrld(d, a, count);
        case A::kShrS32:
          return c_.vpsrad(d, a, count);
        case A::kShl64:
          return c_.vpsllq(d, a, count);
        case A::kShrS64:
          return c_.vpsraq(d, a, count);
        default:
          return c_.vpsrlq(d, a, count);
      }
    });
  }
  if (!wide) {
    return binary(false, [&](Xmm d, Xmm a, Xmm b) {
      if (m_.action == A::kShl32)
        c_.vpsllvd(d, a, b);
      else if (m_.action == A::kShrU32)
        c_.vpsrlvd(d, a, b);
      else
        c_.vpsravd(d, a, b);
    });
  }
  for (int v = 0; v < wide_vectors(); ++v) {
    const Xmm count = widened(op_.b, v, false);
    const int a = c_.use(op_.a, v);
    const Xmm d = reg(c_.define(op_.d, v));
    if (m_.action == A::kShl64)
      c_.vpsllvq(d, reg(a), count);
    else if (m_.action == A::kShrS64)
      c_.vpsravq(d, reg(a), count);
    else
      c_.vpsrlvq(d, reg(a), count);
    c_.release();
  }
  return true;
}

bool Lanes::floats() {
  for (int v = 0; v < narrow_vectors(); ++v) {
    const int a = c_.use(op_.a, v, Reads::kNumbers), b = c_.use(op_.b, v, Reads::kNumbers);
    const Xmm d = reg(c_.define(op_.d, v, true));
    if (m_.action == A::kAddF)
      c_.vaddps(d, reg(a), reg(b));
    else if (m_.action == A::kSubF)
      c_.vsubps(d, reg(a), reg(b));
    else if (m_.action == A::kDivF)
      planted == Planted::kDivides ? c_.vdivps(d, reg(b), reg(a)) : c_.vdivps(d, reg(a), reg(b));
    else
      c_.vmulps(d, reg(a), reg(b));
    c_.release();
  }
  return true;
}

bool Lanes::square_root() {
  for (int v = 0; v < narrow_vectors(); ++v) {
    const Xmm a = reg(c_.use(op_.a, v, Reads::kNumbers));
    const Xmm d = reg(c_.define(op_.d, v, true));
    planted == Planted::kDivides ? c_.vmovaps(d, a) : c_.vsqrtps(d, a);
    c_.release();
  }
  return true;
}

bool Lanes::fused() {
  const bool takes_addend =
      addend_dies_ && op_.c != op_.a && op_.c != op_.b && !c_.is_uniform(op_.c);
  for (int v = 0; v < narrow_vectors(); ++v) {
    const int a = c_.use(op_.a, v, Reads::kNumbers), b = c_.use(op_.b, v, Reads::kNumbers);
    const int sum = c_.use(op_.c, v, Reads::kNumbers);
    if (op_.d == op_.c && op_.c != op_.a && op_.c != op_.b) {
      c_.vfmadd231ps(reg(c_.define(op_.d, v, true)), reg(a), reg(b));
    } else if (op_.d == op_.a) {
      c_.vfmadd213ps(reg(c_.define(op_.d, v, true)), reg(b), reg(sum));
    } else if (op_.d == op_.b) {
      c_.vfmadd213ps(reg(c_.define(op_.d, v, true)), reg(a), reg(sum));
    } else if (takes_addend) {
      c_.rename(sum, op_.d, v, true);
      c_.vfmadd231ps(reg(sum), reg(a), reg(b));
    } else {
      const Xmm d = reg(c_.define(op_.d, v, true));
      c_.vmovaps(d, reg(sum));
      c_.vfmadd231ps(d, reg(a), reg(b));
    }
    c_.release();
  }
  return true;
}

// Turns the sign bit, or clears it.
bool Lanes::sign(bool negates, bool wide) {
  for (int v = 0; v < (wide ? wide_vectors() : narrow_vectors()); ++v) {
    const Xmm mask = c_.all_ones();
    if (negates)
      wide ? c_.vpsllq(mask, mask, 63) : c_.vpslld(mask, mask, 31);
    else
      wide ? c_.vpsrlq(mask, mask, 1) : c_.vpsrld(mask, mask, 1);
    const int a = c_.use(op_.a, v, wide ? Reads::kBits : Reads::kNumbers);
    const Xmm d = reg(c_.define(op_.d, v, !wide));
    if (c_.avx512)
      negates ? c_.vpxord(d, reg(a), mask) : c_.vpandd(d, reg(a), mask);
    else
      negates ? c_.vpxor(d, reg(a), mask) : c_.vpand(d, reg(a), mask);
    c_.release();
  }
  return true;
}

// As exec/float_math.h does it: -0 is less than 0, which the order of the bits as integers says
// once those of negative numbers are turned; of a number and a NaN it is the number.
bool Lanes::min_max_floats(bool is_max) {
  if (!c_.avx512) return false;
  constexpr int kUnordered = 3;
  for (int v = 0; v < narrow_vectors(); ++v) {
    const Xmm a = reg(c_.use(op_.a, v, Reads::kNumbers)),
              b = reg(c_.use(op_.b, v, Reads::kNumbers));
    const Xmm t = reg(c_.scratch()), u = reg(c_.scratch());
    for (const auto& [to, from] : {std::pair{t, a}, std::pair{u, b}}) {
      c_.vpsrad(to, from, 31);
      c_.vpsrld(to, to, 1);
      c_.vpxord(to, to, from);
    }
    c_.vpcmpd(c_.k1, t, u, is_max ? 6 : 1);  // a is greater; less
    c_.vpblendmd(t | c_.k1, b, a);
    c_.vcmpps(c_.k1, a, a, kUnordered);
    c_.vmovaps(t | c_.k1, b);
    c_.vcmpps(c_.k1, b, b, kUnordered);
    c_.vmovaps(t | c_.k1, a);
    c_.vmovaps(reg(c_.define(op_.d, v, true)), t);
    c_.release();
  }
  return true;
}

bool Lanes::convert_integers() {
  switch (m_.action) {
    case A::kFloatOfS32:
      return unary(false, [&](Xmm d, Xmm a) { c_.vcvtdq2ps(d, a); });
    case A::kFloatOfU32:
      if (!c_.avx512) return false;
      return unary(false, [&](Xmm d, Xmm a) {
        c_.vcvtudq2ps(Xbyak::Zmm(d.getIdx()), Xbyak::Zmm(a.getIdx()));
      });
    default:  // to double precision, half a vector at a time
      break;
  }
  if (!c_.avx512) return false;
  for (int v = 0; v < wide_vectors(); ++v) {
    const int source = c_.use(op_.a, v / 2);
    const Xbyak::Zmm to(c_.scratch());
    Xbyak::Ymm from(source);
    if (v % 2 == 1) {
      from = Xbyak::Ymm(to.getIdx());
      c_.vextracti64x4(from, Xbyak::Zmm(source), 1);
    }
    m_.action == A::kDoubleOfS32 ? c_.vcvtdq2pd(to, from) : c_.vcvtps2pd(to, from);
    c_.vmovaps(reg(c_.define(op_.d, v)), to);
    c_.release();
  }
  return true;
}

bool Lanes::widen(bool is_signed) {
  for (int v = 0; v < wide_vectors(); ++v) {
    const Xmm t = widened(op_.a, v, is_signed);
    c_.vmovaps(reg(c_.define(op_.d, v)), t);
    c_.release();
  }
  return true;
}

bool Lanes::narrow() {
  for (int v = 0; v < narrow_vectors(); ++v) {
    const int low = c_.use(op_.a, 2 * v), high = c_.use(op_.a, 2 * v + 1);
    const int t = c_.scratch();
    const int d = c_.define(op_.d, v);
    if (c_.avx512) {
      c_.vpmovqd(Xbyak::Ymm(d), Xbyak::Zmm(low));
      c_.vpmovqd(Xbyak::Ymm(t), Xbyak::Zmm(high));
      c_.vinserti64x4(Xbyak::Zmm(d), Xbyak::Zmm(d), Xbyak::Ymm(t), 1);
    } else {
      c_.vshufps(Xbyak::Ymm(t), Xbyak::Ymm(low), Xbyak::Ymm(high), 0x88);
      c_.vpermq(Xbyak::Ymm(d), Xbyak::Ymm(t), 0xD8);
    }
    c_.release();
  }
  return true;
}

// By a power of two, as sizes of elements are: a shift.
bool Lanes::shift_wide(bool is_signed, bool adds, int by) {
  for (int v = 0; v < wide_vectors(); ++v) {
    const Xmm t = widened(op_.a, v, is_signed);
    if (adds) {
      c_.vpsllq(t, t, uint8_t(by));
      const int addend = c_.use(op_.c, v);
      c_.vpaddq(reg(c_.define(op_.d, v)), t, reg(addend));
    } else {
      c_.vpsllq(reg(c_.define(op_.d, v)), t, uint8_t(by));
    }
    c_.release();
  }
  return true;
}

bool Lanes::multiply_wide(bool is_signed, bool adds) {
  const uint32_t factor = uint32_t(constant(op_.b).value_or(0));
  if (std::has_single_bit(factor) && factor <= 1u << 30)
    return shift_wide(is_signed, adds, std::countr_zero(factor));
  for (int v = 0; v < wide_vectors(); ++v) {
    const Xmm a = widened(op_.a, v, false), b = widened(op_.b, v, false);
    const int addend = adds ? c_.use(op_.c, v) : -1;
    const Xmm d = reg(adds ? c_.scratch() : c_.define(op_.d, v));
    if (is_signed)
      c_.vpmuldq(d, a, b);
    else
      c_.vpmuludq(d, a, b);
    if (adds) c_.vpaddq(reg(c_.define(op_.d, v)), d, reg(addend));
    c_.release();
  }
  return true;
}

// d = p ? a : b, p the predicate at c.
bool Lanes::select(bool wide) {
  c_.mov(c_.eax, c_.dword[c_.frame + op_.c]);
  if (op_.negated.c) c_.not_(c_.eax);
  const int count = wide ? wide_vectors() : narrow_vectors();
  const int lanes = kLanes / count;  // of one vector
  for (int v = 0; v < count; ++v) {
    const int a = c_.use(op_.a, v), b = c_.use(op_.b, v);
    if (c_.avx512) {
      c_.kmovd(c_.k1, c_.eax);
      c_.shr(c_.eax, uint8_t(lanes));
      const Xmm d = reg(c_.define(op_.d, v));
      if (wide)
        c_.vpblendmq(d | c_.k1, reg(b), reg(a));
      else
        c_.vpblendmd(d | c_.k1, reg(b), reg(a));
    } else {
      const int t = c_.scratch();
      const Xbyak::Ymm mask(t);
      const void* bits = wide ? static_cast<const void*>(kWideLaneBits.data() + lanes * v)
                              : static_cast<const void*>(kLaneBits + lanes * v);
      c_.mov(c_.rdx, reinterpret_cast<uint64_t>(bits));
      c_.vmovd(Xmm(t), c_.eax);
      if (wide)
        c_.vpbroadcastq(mask, Xmm(t));
      else
        c_.vpbroadcastd(mask, Xmm(t));
      c_.vpand(mask, mask, c_.yword[c_.rdx]);
      if (wide)
        c_.vpcmpeqq(mask, mask, c_.yword[c_.rdx]);
      else
        c_.vpcmpeqd(mask, mask, c_.yword[c_.rdx]);
      c_.vblendvps(Xbyak::Ymm(c_.define(op_.d, v)), Xbyak::Ymm(b), Xbyak::Ymm(a), mask);
    }
    c_.release();
  }
  return true;
}

bool Lanes::emit() {
  const A action = m_.action;
  if (source_rows(action) == 0 || is_overlapping()) return false;
  switch (action) {
    case A::kAdd32:
      if (planted == Planted::kSubtracts)
        return binary(false, [&](Xmm d, Xmm a, Xmm b) { c_.vpsubd(d, a, b); });
      return binary(false, [&](Xmm d, Xmm a, Xmm b) { c_.vpaddd(d, a, b); });
    case A::kAdd64:
      return binary(true, [&](Xmm d, Xmm a, Xmm b) { c_.vpaddq(d, a, b); });
    case A::kSub32:
      return binary(false, [&](Xmm d, Xmm a, Xmm b) { c_.vpsubd(d, a, b); });
    case A::kSub64:
      return binary(true, [&](Xmm d, Xmm a, Xmm b) { c_.vpsubq(d, a, b); });
    case A::kMul32:
      return binary(false, [&](Xmm d, Xmm a, Xmm b) { c_.vpmulld(d, a, b); });
    case A::kMad32:
      return product_sum(false, [&](Xmm t, Xmm a, Xmm b) { c_.vpmulld(t, a, b); });
    case A::kMul64:
      for (int v = 0; v < wide_vectors(); ++v) {
        const Xmm t = reg(c_.scratch());
        const int a = c_.use(op_.a, v), b = c_.use(op_.b, v);
        multiply64(t, reg(a), reg(b));
        c_.vmovaps(reg(c_.define(op_.d, v)), t);
        c_.release();
      }
      return true;
    case A::kMad64:
      return product_sum(true, [&](Xmm t, Xmm a, Xmm b) { multiply64(t, a, b); });
    case A::kMinS32:
      return binary(false, [&](Xmm d, Xmm a, Xmm b) { c_.vpminsd(d, a, b); });
    case A::kMaxS32:
      return binary(false, [&](Xmm d, Xmm a, Xmm b) { c_.vpmaxsd(d, a, b); });
    case A::kMinU32:
      return binary(false, [&](Xmm d, Xmm a, Xmm b) { c_.vpminud(d, a, b); });
    case A::kMaxU32:
      return binary(false, [&](Xmm d, Xmm a, Xmm b) { c_.vpmaxud(d, a, b); });
    case A::kNeg32:
    case A::kNeg64:
      for (int v = 0; v < (m_.wide_d ? wide_vectors() : narrow_vectors()); ++v) {
        const Xmm zero = reg(c_.scratch());
        c_.avx512 ? c_.vpxord(zero, zero, zero) : c_.vpxor(zero, zero, zero);
        const int a = c_.use(op_.a, v);
        const Xmm d = reg(c_.define(op_.d, v));
        m_.wide_d ? c_.vpsubq(d, zero, reg(a)) : c_.vpsubd(d, zero, reg(a));
        c_.release();
      }
      return true;
    case A::kAnd32:
    case A::kOr32:
    case A::kXor32:
    case A::kNot32:
    case A::kAnd64:
    case A::kOr64:
    case A::kXor64:
    case A::kNot64:
      return logic(m_.wide_d);
    case A::kShl32:
    case A::kShrU32:
    case A::kShrS32:
    case A::kShl64:
    case A::kShrU64:
      return shift(m_.wide_d);
    case A::kShrS64:
      return c_.avx512 && shift(true);
    case A::kLop3:
      if (!c_.avx512) return false;
      for (int v = 0; v < narrow_vectors(); ++v) {
        const Xmm t = reg(c_.scratch());
        const int a = c_.use(op_.a, v), b = c_.use(op_.b, v), c = c_.use(op_.c, v);
        c_.vmovaps(t, reg(a));
        c_.vpternlogd(t, reg(b), reg(c), uint8_t(op_.lookup.table));
        c_.vmovaps(reg(c_.define(op_.d, v)), t);
        c_.release();
      }
      return true;
    case A::kMulWideS:
    case A::kMulWideU:
      return multiply_wide(action == A::kMulWideS, false);
    case A::kMadWideS:
    case A::kMadWideU:
      return multiply_wide(action == A::kMadWideS, true);
    case A::kAddF:
    case A::kSubF:
    case A::kMulF:
    case A::kDivF:
      return floats();
    case A::kSqrtF:
      return square_root();
    case A::kFmaF:
      return fused();
    case A::kNegF:
    case A::kNegD:
      return sign(true, m_.wide_d);
    case A::kAbsF:
    case A::kAbsD:
      return sign(false, m_.wide_d);
    case A::kMinF:
    case A::kMaxF:
      return min_max_floats(action == A::kMaxF);
    case A::kFloatOfS32:
    case A::kFloatOfU32:
    case A::kDoubleOfS32:
    case A::kDoubleOfFloat:
      return convert_integers();
    case A::kCopy32:
    case A::kCopy64:
      return unary(m_.wide_d, [&](Xmm d, Xmm a) { c_.vmovaps(d, a); });
    case A::kWidenU:
    case A::kWidenS:
      return widen(action == A::kWidenS);
    case A::kNarrow:
      return narrow();
    case A::kSelect32:
    case A::kSelect64:
      return select(m_.wide_d);
    default:
      return false;
  }
}

}  // namespace

bool emit_lanes(Assembler& code, const Op& op, const Meaning& meaning, const Constants& constants,
                bool addend_dies) {
  if (makes_predicate(meaning.action)) {
    emit_predicate(code, op, meaning);
    return true;
  }
  return Lanes(code, op, meaning, constants, addend_dies).emit();
}

}  // namespace warpsim::jit
