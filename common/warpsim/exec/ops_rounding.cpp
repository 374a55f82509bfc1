// Arithmetic and conversions that round towards zero, down or up. This file is compiled with
// -frounding-math: the processor's mode is set for the length of one operation.

#include <cfenv>

#include "warpsim/exec/float_math.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

class RoundingScope {
 public:
  explicit RoundingScope(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~RoundingScope() { std::fesetround(before_); }

 private:
  int before_;
};

constexpr int mode_of(Rounding r) {
  return r == Rounding::kRz ? FE_TOWARDZERO : r == Rounding::kRm ? FE_DOWNWARD : FE_UPWARD;
}

template <auto F, Rounding kHow>
[[gnu::noinline]] const Op* rounded(Warp& w, const Op* op) {
  RoundingScope scope(mode_of(kHow));
  return lift<F, false>(w, op);
}

template <auto F>
Handlers in_mode(Rounding how) {
  Handlers h = ::warpsim::lifted<F>();
  switch (how) {
    case Rounding::kRz:
      h.full = h.masked = &rounded<F, Rounding::kRz>;
      return h;
    case Rounding::kRm:
      h.full = h.masked = &rounded<F, Rounding::kRm>;
      return h;
    case Rounding::kRp:
      h.full = h.masked = &rounded<F, Rounding::kRp>;
      return h;
    default:
      return {};
  }
}

uint32_t from_s32(uint32_t a) {
  return math::bits(float(int32_t(a)));
}
uint32_t from_u32(uint32_t a) {
  return math::bits(float(a));
}
uint32_t from_s64(uint64_t a) {
  return math::bits(float(int64_t(a)));
}
// Two steps would round twice: the halves are exact and one addition rounds.
uint32_t from_u64(uint64_t a) {
  return math::bits(float(a));
}
uint64_t wide_from_s64(uint64_t a) {
  return math::bits(double(int64_t(a)));
}
uint64_t wide_from_u64(uint64_t a) {
  return math::bits(double(a));
}
uint32_t from_f64(uint64_t a) {
  return math::result<false>(float(math::f64(a)));
}

Handlers select_conversion(const ptx::Instruction& code) {
  const Rounding how = code.rounding;
  if (code.type == Type::kF32) {
    switch (code.src_type) {
      case Type::kS32:
        return in_mode<&from_s32>(how);
      case Type::kU32:
        return in_mode<&from_u32>(how);
      case Type::kS64:
        return in_mode<&from_s64>(how);
      case Type::kU64:
        return in_mode<&from_u64>(how);
      case Type::kF64:
        return code.ftz || code.sat ? Handlers{} : in_mode<&from_f64>(how);
      default:
        return {};
    }
  }
  if (code.type != Type::kF64) return {};
  if (code.src_type == Type::kS64) return in_mode<&wide_from_s64>(how);
  if (code.src_type == Type::kU64) return in_mode<&wide_from_u64>(how);
  return {};
}

template <bool kFtz, bool kSat>
Handlers select_f32(const ptx::Instruction& code) {
  switch (code.op) {
    case Opcode::kAdd:
      return in_mode<&math::add<kFtz, kSat>>(code.rounding);
    case Opcode::kSub:
      return in_mode<&math::sub<kFtz, kSat>>(code.rounding);
    case Opcode::kMul:
      return in_mode<&math::mul<kFtz, kSat>>(code.rounding);
    case Opcode::kMad:
    case Opcode::kFma:
      return in_mode<&math::fma<kFtz, kSat>>(code.rounding);
    case Opcode::kDiv:
      return in_mode<&math::div<kFtz>>(code.rounding);
    case Opcode::kRcp:
      return in_mode<&math::rcp<kFtz>>(code.rounding);
    case Opcode::kSqrt:
      return in_mode<&math::sqrt<kFtz>>(code.rounding);
    default:
      return {};
  }
}

}  // namespace

Handlers select_rounding(const ptx::Instruction& code) {
  const bool directed = code.rounding == Rounding::kRz || code.rounding == Rounding::kRm ||
                        code.rounding == Rounding::kRp;
  if (!directed) return {};
  if (code.op == Opcode::kCvt) return select_conversion(code);
  if (code.type == Type::kF32) {
    if (code.sat) return code.ftz ? select_f32<true, true>(code) : select_f32<false, true>(code);
    return code.ftz ? select_f32<true, false>(code) : select_f32<false, false>(code);
  }
  if (code.type != Type::kF64) return {};
  switch (code.op) {
    case Opcode::kAdd:
      return in_mode<&math::add64>(code.rounding);
    case Opcode::kSub:
      return in_mode<&math::sub64>(code.rounding);
    case Opcode::kMul:
      return in_mode<&math::mul64>(code.rounding);
    case Opcode::kMad:
    case Opcode::kFma:
      return in_mode<&math::fma64>(code.rounding);
    case Opcode::kDiv:
      return in_mode<&math::div64>(code.rounding);
    case Opcode::kRcp:
      return in_mode<&math::rcp64>(code.rounding);
    case Opcode::kSqrt:
      return in_mode<&math::sqrt64>(code.rounding);
    default:
      return {};
  }
}

}  // namespace warpsim
