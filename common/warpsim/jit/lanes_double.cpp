// Operations on double-precision numbers, lane by lane.

#include <array>

#include "warpsim/exec/float_math.h"
#include "warpsim/jit/lane_code.h"
#include "warpsim/jit/planted.h"

namespace warpsim::jit {

namespace {

using A = Action;
using Xbyak::Xmm;

constexpr int kUnordered = 3;

}  // namespace

// Of two NaNs the processor passes on its first source, made quiet: the second operand, as
// math::result64 says.
bool Lanes::doubles() {
  return binary(true, [&](Xmm d, Xmm a, Xmm b) {
    if (m_.action == A::kAddD)
      c_.vaddpd(d, b, a);
    else
      c_.vmulpd(d, b, a);
  });
}

// Which of three NaNs a fused multiply-add passes on is not the same in each of its forms, and a
// difference has only one order: where a result is a NaN, it is chosen here, as in math::result64.
bool Lanes::doubles_by_nan() {
  const bool fused = m_.action != A::kSubD;
  struct Part {
    int d, a, b, c;
  };
  constexpr int kMost = 4;
  const int together = c_.avx512 ? kMost : 1;
  for (int first = 0; first < wide_vectors(); first += together) {
    std::array<Part, kMost> parts;
    const Xmm constant = reg(c_.scratch());
    const Xmm chosen = c_.avx512 ? constant : reg(c_.scratch());  // AVX2: operands made quiet
    const Xmm is_nan = c_.avx512 ? constant : reg(c_.scratch());  // AVX2: a mask
    for (int i = 0; i < together; ++i) {
      const int v = first + i;
      const int c = fused ? c_.use(op_.c, v) : -1;
      parts[size_t(i)] = {c_.scratch(), c_.use(op_.a, v), c_.use(op_.b, v), c};
      const Part& p = parts[size_t(i)];
      if (fused) {
        c_.vmovaps(reg(p.d), reg(p.a));
        c_.vfmadd213pd(reg(p.d), reg(p.b), reg(p.c));
      } else {
        c_.vsubpd(reg(p.d), reg(p.a), reg(p.b));
      }
      if (!c_.avx512) {
        c_.vcmppd(is_nan, reg(p.d), reg(p.d), kUnordered);
        c_.vtestpd(is_nan, is_nan);
      } else if (i == 0) {
        c_.vcmppd(c_.k1, reg(p.d), reg(p.d), kUnordered);
      } else {
        c_.vcmppd(c_.k2, reg(p.d), reg(p.d), kUnordered);
        c_.korw(c_.k1, c_.k1, c_.k2);
      }
    }
    if (c_.avx512) c_.kortestw(c_.k1, c_.k1);
    Xbyak::Label done;
    c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
    const auto broadcast = [&](uint64_t value) {
      const Xmm low(constant.getIdx());
      c_.mov(c_.rax, value);
      c_.vmovq(low, c_.rax);
      c_.vpbroadcastq(constant, low);
    };
    // Where `of` is a NaN, d becomes the constant, or `of` with the constant's bits.
    const auto choose = [&](const Xmm& d, const Xmm& of, bool passed_on) {
      if (c_.avx512) {
        c_.vcmppd(c_.k2, of, of, kUnordered);
        passed_on ? c_.vporq(d | c_.k2, of, constant) : c_.vmovapd(d | c_.k2, constant);
        return;
      }
      c_.vcmppd(is_nan, of, of, kUnordered);
      if (passed_on) c_.vpor(chosen, of, constant);
      c_.vblendvpd(d, d, passed_on ? chosen : constant, is_nan);
    };
    broadcast(math::kNan64);
    for (int i = 0; i < together; ++i)
      choose(reg(parts[size_t(i)].d), reg(parts[size_t(i)].d), false);
    broadcast(math::kQuiet64);
    for (int i = 0; i < together; ++i) {
      const Part& p = parts[size_t(i)];
      const bool turned = planted == Planted::kOtherNan;
      for (const int of : turned ? std::array{p.b, p.c, p.a} : std::array{p.a, p.c, p.b})
        if (of >= 0) choose(reg(p.d), reg(of), true);
    }
    c_.L(done);
    for (int i = 0; i < together; ++i) c_.rename(parts[size_t(i)].d, op_.d, first + i, false);
    c_.release();
  }
  return true;
}

}  // namespace warpsim::jit
