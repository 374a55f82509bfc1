#include "warpsim/jit/predicates.h"

#include <utility>

namespace warpsim::jit {

namespace {

using A = Action;
using Xbyak::Xmm;
using Reads = Assembler::Reads;

// The processor's comparison predicates.
uint8_t float_predicate(Comparison comparison) {
  constexpr uint8_t kPredicates[] = {0, 12, 17, 18, 30, 29, 8, 4, 25, 26, 22, 21, 7, 3};
  return kPredicates[size_t(comparison)];
}
uint8_t integer_predicate(Comparison comparison) {  // eq, ne, lt, le, gt, ge
  constexpr uint8_t kPredicates[] = {0, 4, 1, 2, 6, 5};
  return kPredicates[size_t(comparison)];
}

class Predicates {
 public:
  Predicates(Assembler& code, const Op& op, const Meaning& meaning)
      : c_(code), op_(op), m_(meaning) {}

  void compare();
  void logic();

 private:
  Xmm reg(int r) const { return c_.vec(r); }
  void compare_avx512(bool wide);
  void compare_avx2(bool wide);

  Assembler& c_;
  const Op& op_;
  const Meaning& m_;
};

// Bits in eax.
void Predicates::compare_avx512(bool wide) {
  const int count = wide ? 4 : 2;
  const Xbyak::Opmask parts[4] = {c_.k1, c_.k2, c_.k3, c_.k4};
  for (int v = 0; v < count; ++v) {
    const Reads reads = m_.action == A::kCompareF32 ? Reads::kNumbers : Reads::kBits;
    const int a = c_.use(op_.a, v, reads), b = c_.use(op_.b, v, reads);
    switch (m_.action) {
      case A::kCompareF32:
        c_.vcmpps(parts[v], reg(a), reg(b), float_predicate(m_.comparison));
        break;
      case A::kCompareF64:
        c_.vcmppd(parts[v], reg(a), reg(b), float_predicate(m_.comparison));
        break;
      case A::kCompareS32:
        c_.vpcmpd(parts[v], reg(a), reg(b), integer_predicate(m_.comparison));
        break;
      case A::kCompareU32:
        c_.vpcmpud(parts[v], reg(a), reg(b), integer_predicate(m_.comparison));
        break;
      case A::kCompareS64:
        c_.vpcmpq(parts[v], reg(a), reg(b), integer_predicate(m_.comparison));
        break;
      default:
        c_.vpcmpuq(parts[v], reg(a), reg(b), integer_predicate(m_.comparison));
        break;
    }
    c_.release();
  }
  if (wide) {
    c_.kunpckbw(c_.k1, c_.k2, c_.k1);
    c_.kunpckbw(c_.k2, c_.k4, c_.k3);
  }
  c_.kunpckwd(c_.k1, c_.k2, c_.k1);
  c_.kmovd(c_.eax, c_.k1);
}

void Predicates::compare_avx2(bool wide) {
  const int count = wide ? 8 : 4, lanes = kLanes / count;
  const bool is_float = m_.action == A::kCompareF32 || m_.action == A::kCompareF64;
  const bool is_unsigned = m_.action == A::kCompareU32 || m_.action == A::kCompareU64;
  const Comparison how = m_.comparison;
  // Only "equal" and "greater, signed" are to be had.
  const bool equality = how == Comparison::kEq || how == Comparison::kNe;
  const bool swapped = how == Comparison::kLt || how == Comparison::kGe;
  const bool negated =
      !is_float && (how == Comparison::kNe || how == Comparison::kLe || how == Comparison::kGe);
  for (int v = 0; v < count; ++v) {
    const Reads reads = m_.action == A::kCompareF32 ? Reads::kNumbers : Reads::kBits;
    Xmm a = reg(c_.use(op_.a, v, reads)), b = reg(c_.use(op_.b, v, reads));
    const Xmm t = reg(c_.scratch());
    if (is_float) {
      wide ? c_.vcmppd(t, a, b, float_predicate(how)) : c_.vcmpps(t, a, b, float_predicate(how));
    } else {
      if (is_unsigned && !equality) {  // the order of the numbers with their top bits turned
        const Xmm top = c_.all_ones(), u = reg(c_.scratch());
        wide ? c_.vpsllq(top, top, 63) : c_.vpslld(top, top, 31);
        c_.vpxor(u, a, top);
        c_.vpxor(top, b, top);
        a = u, b = top;
      }
      if (swapped) std::swap(a, b);
      if (wide)
        equality ? c_.vpcmpeqq(t, a, b) : c_.vpcmpgtq(t, a, b);
      else
        equality ? c_.vpcmpeqd(t, a, b) : c_.vpcmpgtd(t, a, b);
    }
    const Xbyak::Reg32 to = v == 0 ? c_.eax : c_.edx;
    wide ? c_.vmovmskpd(to, t) : c_.vmovmskps(to, t);
    if (v != 0) {
      c_.shl(c_.edx, uint8_t(v * lanes));
      c_.or_(c_.eax, c_.edx);
    }
    c_.release();
  }
  if (negated) c_.not_(c_.eax);
}

void Predicates::compare() {
  const bool wide =
      m_.action == A::kCompareS64 || m_.action == A::kCompareU64 || m_.action == A::kCompareF64;
  if (c_.avx512)
    compare_avx512(wide);
  else
    compare_avx2(wide);
  if (!m_.combined) {
    c_.mov(c_.dword[c_.frame + op_.d], c_.eax);
    return;
  }
  const ptx::BoolOp how = op_.compare.combine;
  if (how != ptx::BoolOp::kNone) {
    c_.mov(c_.ecx, c_.dword[c_.frame + op_.c]);
    if (op_.compare.negated) c_.not_(c_.ecx);
  }
  auto combine = [&](Xbyak::Reg32 result) {
    if (how == ptx::BoolOp::kAnd) c_.and_(result, c_.ecx);
    if (how == ptx::BoolOp::kOr) c_.or_(result, c_.ecx);
    if (how == ptx::BoolOp::kXor) c_.xor_(result, c_.ecx);
  };
  if (op_.e != 0) {
    c_.mov(c_.edx, c_.eax);
    c_.not_(c_.edx);
    combine(c_.edx);
    c_.mov(c_.dword[c_.frame + op_.e], c_.edx);
  }
  combine(c_.eax);
  c_.mov(c_.dword[c_.frame + op_.d], c_.eax);
}

void Predicates::logic() {
  c_.mov(c_.eax, c_.dword[c_.frame + op_.a]);
  if (op_.negated.a) c_.not_(c_.eax);
  if (m_.action == A::kLogicNot) c_.not_(c_.eax);
  if (m_.action != A::kLogicNot && m_.action != A::kLogicCopy) {
    c_.mov(c_.ecx, c_.dword[c_.frame + op_.b]);
    if (op_.negated.b) c_.not_(c_.ecx);
    if (m_.action == A::kLogicAnd) c_.and_(c_.eax, c_.ecx);
    if (m_.action == A::kLogicOr) c_.or_(c_.eax, c_.ecx);
    if (m_.action == A::kLogicXor) c_.xor_(c_.eax, c_.ecx);
  }
  c_.mov(c_.dword[c_.frame + op_.d], c_.eax);
}

bool compares(Action action) {
  return action >= A::kCompareS32 && action <= A::kCompareF32;
}

}  // namespace

bool makes_predicate(Action action) {
  return compares(action) || (action >= A::kLogicAnd && action <= A::kLogicCopy);
}

void emit_predicate(Assembler& code, const Op& op, const Meaning& meaning) {
  Predicates predicates(code, op, meaning);
  if (compares(meaning.action))
    predicates.compare();
  else
    predicates.logic();
}

}  // namespace warpsim::jit
