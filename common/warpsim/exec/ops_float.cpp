// Single and double precision with rounding to nearest, and the special function unit.

#include "warpsim/exec/float_math.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::Opcode;
using ptx::Rounding;

template <bool kFtz, bool kSat>
Handlers select_f32_arithmetic(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
      return lifted<&math::add<kFtz, kSat>>();
    case Opcode::kSub:
      return lifted<&math::sub<kFtz, kSat>>();
    case Opcode::kMul:
      return lifted<&math::mul<kFtz, kSat>>();
    case Opcode::kMad:
    case Opcode::kFma:
      return lifted<&math::fma<kFtz, kSat>>();
    default:
      return {};
  }
}

template <bool kFtz>
Handlers select_f32_min_max(const ptx::Instruction& code) {
  const bool nan = code.mnemonic.find(".NaN") != std::string::npos;
  if (code.op == Opcode::kMin)
    return nan ? lifted<&math::min_max<kFtz, false, true>>()
               : lifted<&math::min_max<kFtz, false, false>>();
  return nan ? lifted<&math::min_max<kFtz, true, true>>()
             : lifted<&math::min_max<kFtz, true, false>>();
}

template <bool kFtz>
Handlers select_f32(const ptx::Instruction& code) {
  switch (code.op) {
    case Opcode::kDiv:
      return lifted<&math::div<kFtz>>();
    case Opcode::kRcp:
      return lifted<&math::rcp<kFtz>>();
    case Opcode::kSqrt:
      return lifted<&math::sqrt<kFtz>>();
    case Opcode::kRsqrt:
      return lifted<&math::rsqrt<kFtz>>();
    case Opcode::kSin:
      return lifted<&math::sin<kFtz>>();
    case Opcode::kCos:
      return lifted<&math::cos<kFtz>>();
    case Opcode::kLg2:
      return lifted<&math::lg2<kFtz>>();
    case Opcode::kEx2:
      return lifted<&math::ex2<kFtz>>();
    case Opcode::kTanh:
      return lifted<&math::tanh>();
    case Opcode::kNeg:
      return lifted<&math::neg<kFtz>>();
    case Opcode::kAbs:
      return lifted<&math::abs<kFtz>>();
    case Opcode::kMin:
    case Opcode::kMax:
      return select_f32_min_max<kFtz>(code);
    default:
      break;
  }
  return code.sat ? select_f32_arithmetic<kFtz, true>(code.op)
                  : select_f32_arithmetic<kFtz, false>(code.op);
}

Handlers select_f64(const ptx::Instruction& code) {
  switch (code.op) {
    case Opcode::kAdd:
      return lifted<&math::add64>();
    case Opcode::kSub:
      return lifted<&math::sub64>();
    case Opcode::kMul:
      return lifted<&math::mul64>();
    case Opcode::kMad:
    case Opcode::kFma:
      return lifted<&math::fma64>();
    case Opcode::kDiv:
      return lifted<&math::div64>();
    case Opcode::kRcp:
      return code.approx ? lifted<&math::rcp64_approx>() : lifted<&math::rcp64>();
    case Opcode::kSqrt:
      return lifted<&math::sqrt64>();
    case Opcode::kRsqrt:
      return lifted<&math::rsqrt64>();
    case Opcode::kNeg:
      return lifted<&math::neg64>();
    case Opcode::kAbs:
      return lifted<&math::abs64>();
    case Opcode::kMin:
      return lifted<&math::min_max64<false>>();
    case Opcode::kMax:
      return lifted<&math::min_max64<true>>();
    default:
      return {};
  }
}

uint32_t copysign32(uint32_t a, uint32_t b) {
  return (b & 0x7FFFFFFF) | (a & 0x80000000);
}
uint64_t copysign64(uint64_t a, uint64_t b) {
  return (b & 0x7FFFFFFFFFFFFFFF) | (a & 0x8000000000000000);
}

}  // namespace

Handlers select_float(const ptx::Instruction& code) {
  const bool f32 = code.type == ptx::Type::kF32;
  if (!f32 && code.type != ptx::Type::kF64) return {};
  if (code.src.size() == 3 && (code.op == Opcode::kMin || code.op == Opcode::kMax)) return {};
  if (code.mnemonic.find(".xorsign") != std::string::npos) return {};
  if (code.op == Opcode::kCopysign) return f32 ? lifted<&copysign32>() : lifted<&copysign64>();
  if (code.rounding != Rounding::kNone && code.rounding != Rounding::kRn) return {};
  if (!f32) return select_f64(code);
  return code.ftz ? select_f32<true>(code) : select_f32<false>(code);
}

}  // namespace warpsim
