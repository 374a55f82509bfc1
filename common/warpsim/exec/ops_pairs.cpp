// Pairs of 16-bit integers, sums of absolute differences of bytes, and min and max that clamp
// (.relu) or take the product's sign (.xorsign.abs).

#include "warpsim/exec/float_math.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::Opcode;
using ptx::Type;

enum class Pairwise : uint8_t { kAdd, kMin, kMax };

template <class T, Pairwise kOp, bool kRelu>
T of_one(T a, T b) {
  T r = kOp == Pairwise::kAdd   ? T(a + b)
        : kOp == Pairwise::kMin ? (b < a ? b : a)
                                : (b > a ? b : a);
  return kRelu && r < T(0) ? T(0) : r;
}

template <class T, Pairwise kOp, bool kRelu>
uint32_t of_pair(uint32_t a, uint32_t b) {
  const auto low = uint16_t(of_one<T, kOp, kRelu>(T(a), T(b)));
  const auto high = uint16_t(of_one<T, kOp, kRelu>(T(a >> 16), T(b >> 16)));
  return uint32_t{high} << 16 | low;
}

template <Pairwise kOp>
uint32_t of_word(uint32_t a, uint32_t b) {
  return uint32_t(of_one<int32_t, kOp, true>(int32_t(a), int32_t(b)));
}

template <Pairwise kOp>
Handlers select_pair(const ptx::Instruction& code) {
  constexpr bool kMayClamp = kOp != Pairwise::kAdd;
  if (code.type == Type::kU16x2 && !code.relu) return lifted<&of_pair<uint16_t, kOp, false>>();
  if (code.type == Type::kS16x2 && !code.relu) return lifted<&of_pair<int16_t, kOp, false>>();
  if (!kMayClamp || !code.relu) return {};
  if (code.type == Type::kS16x2) return lifted<&of_pair<int16_t, kOp, true>>();
  return code.type == Type::kS32 ? lifted<&of_word<kOp>>() : Handlers{};
}

template <bool kFtz, bool kMax, bool kNan>
uint32_t with_sign(uint32_t a, uint32_t b) {
  const uint32_t r = math::min_max<kFtz, kMax, kNan>(a & 0x7FFFFFFF, b & 0x7FFFFFFF);
  return math::is_nan32(r) ? r : r | ((a ^ b) & 0x80000000);
}
template <bool kMax>
Handlers select_with_sign(const ptx::Instruction& code) {
  if (code.type != Type::kF32) return {};
  if (code.ftz)
    return code.nan ? lifted<&with_sign<true, kMax, true>>()
                    : lifted<&with_sign<true, kMax, false>>();
  return code.nan ? lifted<&with_sign<false, kMax, true>>()
                  : lifted<&with_sign<false, kMax, false>>();
}

// Bytes without sign. The plain form writes all four, so that c does not matter.
uint32_t byte_differences(uint32_t a, uint32_t b, uint32_t) {
  uint32_t r = 0;
  for (int i = 0; i < 32; i += 8) {
    const int difference = int(a >> i & 0xFF) - int(b >> i & 0xFF);
    r |= uint32_t(difference < 0 ? -difference : difference) << i;
  }
  return r;
}
uint32_t summed_byte_differences(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t all = byte_differences(a, b, 0);
  return c + (all & 0xFF) + (all >> 8 & 0xFF) + (all >> 16 & 0xFF) + (all >> 24);
}

}  // namespace

Handlers select_pairs(const ptx::Instruction& code) {
  switch (code.op) {
    case Opcode::kAdd:
      return select_pair<Pairwise::kAdd>(code);
    case Opcode::kMin:
      return code.xorsign ? select_with_sign<false>(code) : select_pair<Pairwise::kMin>(code);
    case Opcode::kMax:
      return code.xorsign ? select_with_sign<true>(code) : select_pair<Pairwise::kMax>(code);
    case Opcode::kVabsdiff4:
      if (code.type != Type::kU32 || code.src_type != Type::kU32) return {};
      return code.accumulate ? lifted<&summed_byte_differences>() : lifted<&byte_differences>();
    default:
      return {};
  }
}

}  // namespace warpsim
