// add.cc, addc, sub.cc, subc, mad.cc, madc: arithmetic in several words through a carry flag, the
// predicate at op->e.
//
// A subtraction adds what the subtrahend is not: its flag is set where nothing was borrowed. The
// PTX ISA calls it the borrow, which is the same as long as only subc reads it. nvcc's own division
// of 128 bits reads it with addc.

#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"

namespace warpsim {

namespace {

using ptx::Opcode;

enum class Kind { kAdd, kSub, kMadLo, kMadHi };

template <class T, Kind kKind, bool kCarryIn, bool kCarryOut>
const Op* with_carry(Warp& w, const Op* op) {
  T* d = row<T>(w, op->d);
  const T *a = row<T>(w, op->a), *b = row<T>(w, op->b);
  const T* c = kKind == Kind::kMadLo || kKind == Kind::kMadHi ? row<T>(w, op->c) : b;
  uint32_t& flag = predicate(w, op->e);
  uint32_t out = 0;
  for_each_lane(w.mask, [&](int i) {
    const T in = kCarryIn ? T(flag >> i & 1) : T(0);
    using Wide = unsigned __int128;
    Wide sum;
    if constexpr (kKind == Kind::kAdd) {
      sum = Wide(a[i]) + b[i] + in;
    } else if constexpr (kKind == Kind::kSub) {
      sum = Wide(a[i]) + T(~b[i]) + (kCarryIn ? in : T(1));
    } else {
      // The signed and the unsigned product agree in the low word; madc.hi is used with unsigned
      // words.
      const Wide product = Wide(a[i]) * b[i];
      sum = Wide(T(kKind == Kind::kMadHi ? product >> (8 * sizeof(T)) : product)) + c[i] + in;
    }
    d[i] = T(sum);
    out |= uint32_t((sum >> (8 * sizeof(T))) & 1) << i;
  });
  if (kCarryOut) flag = (flag & ~w.mask) | out;
  return op + 1;
}

template <class T, Kind kKind>
Handlers by_carry(bool in, bool out) {
  Handler h = in ? (out ? &with_carry<T, kKind, true, true> : &with_carry<T, kKind, true, false>)
                 : (out ? &with_carry<T, kKind, false, true> : &with_carry<T, kKind, false, false>);
  constexpr bool kWide = sizeof(T) == 8;
  return {h, h, kWide, kWide, kWide, kWide};
}

template <class T>
Handlers by_kind(const ptx::Instruction& code) {
  const bool out = code.carry_out;
  switch (code.op) {
    case Opcode::kAdd:
      return by_carry<T, Kind::kAdd>(false, out);
    case Opcode::kAddc:
      return by_carry<T, Kind::kAdd>(true, out);
    case Opcode::kSub:
      return by_carry<T, Kind::kSub>(false, out);
    case Opcode::kSubc:
      return by_carry<T, Kind::kSub>(true, out);
    case Opcode::kMad:
    case Opcode::kMadc: {
      const bool in = code.op == Opcode::kMadc, high = code.part == ptx::MulPart::kHi;
      if (high && ptx::is_signed(code.type)) return {};
      return high ? by_carry<T, Kind::kMadHi>(in, out) : by_carry<T, Kind::kMadLo>(in, out);
    }
    default:
      return {};
  }
}

}  // namespace

Handlers select_carry(const ptx::Instruction& code) {
  switch (ptx::size_bytes(code.type)) {
    case 4:
      return by_kind<uint32_t>(code);
    case 8:
      return by_kind<uint64_t>(code);
    default:
      return {};
  }
}

}  // namespace warpsim
