// Operations on single-precision numbers, lane by lane.

#include "warpsim/jit/lane_code.h"
#include "warpsim/jit/planted.h"

namespace warpsim::jit {

namespace {

using A = Action;
using Xbyak::Xmm;
using Reads = Assembler::Reads;

}  // namespace

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

}  // namespace warpsim::jit
