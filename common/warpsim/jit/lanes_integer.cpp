// Operations on integers that move bits or change widths, lane by lane.

#include <algorithm>
#include <bit>

#include "warpsim/jit/lane_code.h"

namespace warpsim::jit {

namespace {

using A = Action;
using Xbyak::Xmm;

}  // namespace

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

}  // namespace warpsim::jit
