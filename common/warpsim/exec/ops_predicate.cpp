// testp, and logic on predicates.

#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"

namespace warpsim {

namespace {

using ptx::Opcode;
using ptx::Type;

template <class Row, ptx::TestpOp kTest>
const Op* testp(Warp& w, const Op* op) {
  constexpr bool kWide = sizeof(Row) == 8;
  constexpr Row kInfinity = kWide ? Row(0x7FF0000000000000) : Row(0x7F800000);
  constexpr Row kSmallest = kWide ? Row(0x0010000000000000) : Row(0x00800000);
  const Row* a = row<Row>(w, op->a);
  uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) {
    const Row x = a[i] & (Row(~Row(0)) >> 1);
    using P = ptx::TestpOp;
    const bool yes = kTest == P::kFinite       ? x < kInfinity
                     : kTest == P::kInfinite   ? x == kInfinity
                     : kTest == P::kNumber     ? x <= kInfinity
                     : kTest == P::kNotanumber ? x > kInfinity
                     : kTest == P::kNormal     ? x >= kSmallest && x < kInfinity
                                               : x != 0 && x < kSmallest;
    bits |= uint32_t(yes) << i;
  }
  set_predicate(w, op->d, bits);
  return op + 1;
}

template <class Row>
Handlers by_test(ptx::TestpOp test) {
  using P = ptx::TestpOp;
  Handler h = nullptr;
  switch (test) {
    case P::kFinite:
      h = &testp<Row, P::kFinite>;
      break;
    case P::kInfinite:
      h = &testp<Row, P::kInfinite>;
      break;
    case P::kNumber:
      h = &testp<Row, P::kNumber>;
      break;
    case P::kNotanumber:
      h = &testp<Row, P::kNotanumber>;
      break;
    case P::kNormal:
      h = &testp<Row, P::kNormal>;
      break;
    case P::kSubnormal:
      h = &testp<Row, P::kSubnormal>;
      break;
    default:
      break;
  }
  return {h, h, false, sizeof(Row) == 8, false, false};
}

// Logic on predicates.
template <class F>
const Op* logic(Warp& w, const Op* op) {
  uint32_t a = predicate(w, op->a), b = predicate(w, op->b);
  if (op->negated.a) a = ~a;
  if (op->negated.b) b = ~b;
  set_predicate(w, op->d, F::f(a, b));
  return op + 1;
}
struct PAnd {
  static uint32_t f(uint32_t a, uint32_t b) { return a & b; }
};
struct POr {
  static uint32_t f(uint32_t a, uint32_t b) { return a | b; }
};
struct PXor {
  static uint32_t f(uint32_t a, uint32_t b) { return a ^ b; }
};
struct PNot {
  static uint32_t f(uint32_t a, uint32_t) { return ~a; }
};
struct PMov {
  static uint32_t f(uint32_t a, uint32_t) { return a; }
};

}  // namespace

Handlers select_testp(const ptx::Instruction& code) {
  return code.type == Type::kF64 ? by_test<uint64_t>(code.testp) : by_test<uint32_t>(code.testp);
}

Handlers select_predicate_logic(const ptx::Instruction& code) {
  switch (code.op) {
    case Opcode::kAnd:
      return {&logic<PAnd>, &logic<PAnd>};
    case Opcode::kOr:
      return {&logic<POr>, &logic<POr>};
    case Opcode::kXor:
      return {&logic<PXor>, &logic<PXor>};
    case Opcode::kNot:
      return {&logic<PNot>, &logic<PNot>};
    case Opcode::kMov:
      return {&logic<PMov>, &logic<PMov>};
    default:
      return {};
  }
}

}  // namespace warpsim
