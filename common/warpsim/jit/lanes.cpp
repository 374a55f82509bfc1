#include "warpsim/jit/lanes.h"

#include <array>
#include <optional>

#include "warpsim/jit/lane_code.h"
#include "warpsim/jit/planted.h"
#include "warpsim/jit/predicates.h"

namespace warpsim::jit {

namespace {

using A = Action;
using Xbyak::Xmm;

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

}  // namespace

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
    case A::kAddD:
    case A::kMulD:
      return doubles();
    case A::kSubD:
    case A::kFmaD:
      return doubles_by_nan();
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

bool emit_lanes(Assembler& code, const Op& op, const Meaning& meaning, const Constants& constants,
                bool addend_dies) {
  if (makes_predicate(meaning.action)) {
    emit_predicate(code, op, meaning);
    return true;
  }
  return Lanes(code, op, meaning, constants, addend_dies).emit();
}

}  // namespace warpsim::jit
