#include "warpsim/jit/actions.h"

#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "warpsim/exec/ops.h"

namespace warpsim::jit {

namespace {

using ptx::CmpOp;
using ptx::Opcode;
using ptx::Type;
using Table = std::unordered_map<Handler, Meaning>;

ptx::Instruction instruction(Opcode op, Type type) {
  ptx::Instruction code;
  code.op = op;
  code.type = type;
  return code;
}

void put(Table& table, const Handlers& h, Action action) {
  if (!h) return;
  Meaning m;
  m.action = action;
  m.wide_d = h.wide_d, m.wide_a = h.wide_a, m.wide_b = h.wide_b, m.wide_c = h.wide_c;
  table.emplace(h.full, m);
}

void put(Table& table, Handler h, Action action) {
  put(table, Handlers{h, h}, action);
}

void put_integers(Table& table) {
  struct Row {
    Opcode op;
    Action narrow, wide;
  };
  for (const Row& r : {Row{Opcode::kAdd, Action::kAdd32, Action::kAdd64},
                       Row{Opcode::kSub, Action::kSub32, Action::kSub64},
                       Row{Opcode::kMul, Action::kMul32, Action::kMul64},
                       Row{Opcode::kMad, Action::kMad32, Action::kMad64},
                       Row{Opcode::kNeg, Action::kNeg32, Action::kNeg64}}) {
    put(table, select_integer(instruction(r.op, Type::kU32)), r.narrow);
    put(table, select_integer(instruction(r.op, Type::kU64)), r.wide);
  }
  for (const Row& r : {Row{Opcode::kAnd, Action::kAnd32, Action::kAnd64},
                       Row{Opcode::kOr, Action::kOr32, Action::kOr64},
                       Row{Opcode::kXor, Action::kXor32, Action::kXor64},
                       Row{Opcode::kNot, Action::kNot32, Action::kNot64},
                       Row{Opcode::kShl, Action::kShl32, Action::kShl64},
                       Row{Opcode::kShr, Action::kShrU32, Action::kShrU64}}) {
    put(table, select_bits(instruction(r.op, Type::kU32)), r.narrow);
    put(table, select_bits(instruction(r.op, Type::kU64)), r.wide);
  }
  put(table, select_bits(instruction(Opcode::kShr, Type::kS32)), Action::kShrS32);
  put(table, select_bits(instruction(Opcode::kShr, Type::kS64)), Action::kShrS64);
  put(table, select_bits(instruction(Opcode::kLop3, Type::kB32)), Action::kLop3);
  put(table, select_integer(instruction(Opcode::kMin, Type::kS32)), Action::kMinS32);
  put(table, select_integer(instruction(Opcode::kMax, Type::kS32)), Action::kMaxS32);
  put(table, select_integer(instruction(Opcode::kMin, Type::kU32)), Action::kMinU32);
  put(table, select_integer(instruction(Opcode::kMax, Type::kU32)), Action::kMaxU32);
  for (const auto& [op, type, action] : {std::tuple{Opcode::kMul, Type::kS32, Action::kMulWideS},
                                         std::tuple{Opcode::kMul, Type::kU32, Action::kMulWideU},
                                         std::tuple{Opcode::kMad, Type::kS32, Action::kMadWideS},
                                         std::tuple{Opcode::kMad, Type::kU32, Action::kMadWideU}}) {
    ptx::Instruction code = instruction(op, type);
    code.part = ptx::MulPart::kWide;
    put(table, select_integer(code), action);
  }
}

void put_floats(Table& table) {
  put(table, select_float(instruction(Opcode::kAdd, Type::kF32)), Action::kAddF);
  put(table, select_float(instruction(Opcode::kSub, Type::kF32)), Action::kSubF);
  put(table, select_float(instruction(Opcode::kMul, Type::kF32)), Action::kMulF);
  put(table, select_float(instruction(Opcode::kFma, Type::kF32)), Action::kFmaF);
  put(table, select_float(instruction(Opcode::kNeg, Type::kF32)), Action::kNegF);
  put(table, select_float(instruction(Opcode::kAbs, Type::kF32)), Action::kAbsF);
  put(table, select_float(instruction(Opcode::kMin, Type::kF32)), Action::kMinF);
  put(table, select_float(instruction(Opcode::kMax, Type::kF32)), Action::kMaxF);
  put(table, select_float(instruction(Opcode::kDiv, Type::kF32)), Action::kDivF);
  put(table, select_float(instruction(Opcode::kSqrt, Type::kF32)), Action::kSqrtF);
  put(table, select_float(instruction(Opcode::kAdd, Type::kF64)), Action::kAddD);
  put(table, select_float(instruction(Opcode::kSub, Type::kF64)), Action::kSubD);
  put(table, select_float(instruction(Opcode::kMul, Type::kF64)), Action::kMulD);
  put(table, select_float(instruction(Opcode::kFma, Type::kF64)), Action::kFmaD);
  put(table, select_float(instruction(Opcode::kNeg, Type::kF64)), Action::kNegD);
  put(table, select_float(instruction(Opcode::kAbs, Type::kF64)), Action::kAbsD);
}

// Instructions that are not compiled, of which it is known that they go from rows to a row: the
// rest of the kernel need not be told that they may do anything.
void put_handled(Table& table) {
  struct Row {
    Action action;
    std::vector<Opcode> ops;
  };
  const Row rows[] = {{Action::kHandled1,
                       {Opcode::kNeg, Opcode::kAbs, Opcode::kRcp, Opcode::kSqrt, Opcode::kRsqrt,
                        Opcode::kSin, Opcode::kCos, Opcode::kLg2, Opcode::kEx2, Opcode::kTanh}},
                      {Action::kHandled2,
                       {Opcode::kAdd, Opcode::kSub, Opcode::kMul, Opcode::kDiv, Opcode::kRem,
                        Opcode::kMin, Opcode::kMax}},
                      {Action::kHandled3, {Opcode::kFma, Opcode::kMad}}};
  constexpr Type kTypes[] = {Type::kS16, Type::kU16, Type::kS32, Type::kU32,
                             Type::kS64, Type::kU64, Type::kF32, Type::kF64};
  for (const Row& row : rows) {
    for (const Opcode op : row.ops) {
      for (const Type type : kTypes) {
        ptx::Instruction code = instruction(op, type);
        const bool is_float = type == Type::kF32 || type == Type::kF64;
        if (!is_float) {
          for (const ptx::MulPart part : {code.part, ptx::MulPart::kLo, ptx::MulPart::kHi}) {
            code.part = part;
            put(table, select_integer(code), row.action);
          }
          continue;
        }
        for (const bool ftz : {false, true}) {
          for (const bool sat : {false, true}) {
            code.ftz = ftz, code.sat = sat;
            put(table, select_float(code), row.action);
          }
        }
      }
    }
  }
  constexpr ptx::Rounding kRoundings[] = {
      ptx::Rounding::kNone, ptx::Rounding::kRn,  ptx::Rounding::kRz,
      ptx::Rounding::kRm,   ptx::Rounding::kRp,  ptx::Rounding::kRni,
      ptx::Rounding::kRzi,  ptx::Rounding::kRmi, ptx::Rounding::kRpi};
  constexpr Type kConverted[] = {Type::kS8,  Type::kU8,  Type::kS16, Type::kU16, Type::kS32,
                                 Type::kU32, Type::kS64, Type::kU64, Type::kF32, Type::kF64};
  for (const Type to : kConverted) {
    for (const Type from : kConverted) {
      for (const ptx::Rounding rounding : kRoundings) {
        ptx::Instruction code = instruction(Opcode::kCvt, to);
        code.src_type = from;
        code.rounding = rounding;
        for (const bool ftz : {false, true}) {
          code.ftz = ftz;
          put(table, select_convert(code), Action::kHandled1);
        }
      }
    }
  }
}

void put_moves(Table& table) {
  put(table, ops::copy32(), Action::kCopy32);
  put(table, ops::copy64(), Action::kCopy64);
  auto widths = [](Action action, Handler h, bool wide_d, bool wide_a) {
    return std::pair{action, Handlers{h, h, wide_d, wide_a}};
  };
  for (const auto& [action, h] : {widths(Action::kWidenU, &ops::widen, true, false),
                                  widths(Action::kWidenS, &ops::widen_signed, true, false),
                                  widths(Action::kNarrow, &ops::narrow, false, true)}) {
    put(table, h, action);
  }
  auto convert = [&](Type to, Type from, Action action) {
    ptx::Instruction code = instruction(Opcode::kCvt, to);
    code.src_type = from;
    put(table, select_convert(code), action);
  };
  convert(Type::kS64, Type::kS32, Action::kWidenS);
  convert(Type::kU64, Type::kS32, Action::kWidenS);
  convert(Type::kU64, Type::kU32, Action::kWidenU);
  convert(Type::kS64, Type::kU32, Action::kWidenU);
  for (Type wide : {Type::kU64, Type::kS64}) {
    for (Type narrow : {Type::kU32, Type::kS32}) convert(narrow, wide, Action::kNarrow);
  }
  convert(Type::kF32, Type::kS32, Action::kFloatOfS32);
  convert(Type::kF32, Type::kU32, Action::kFloatOfU32);
  convert(Type::kF64, Type::kS32, Action::kDoubleOfS32);
  convert(Type::kF64, Type::kF32, Action::kDoubleOfFloat);
  put(table, select_selp(instruction(Opcode::kSelp, Type::kB32)), Action::kSelect32);
  put(table, select_selp(instruction(Opcode::kSelp, Type::kB64)), Action::kSelect64);
}

void put_comparisons(Table& table) {
  const std::pair<CmpOp, Comparison> comparisons[] = {
      {CmpOp::kEq, Comparison::kEq},   {CmpOp::kNe, Comparison::kNe},
      {CmpOp::kLt, Comparison::kLt},   {CmpOp::kLe, Comparison::kLe},
      {CmpOp::kGt, Comparison::kGt},   {CmpOp::kGe, Comparison::kGe},
      {CmpOp::kEqu, Comparison::kEqu}, {CmpOp::kNeu, Comparison::kNeu},
      {CmpOp::kLtu, Comparison::kLtu}, {CmpOp::kLeu, Comparison::kLeu},
      {CmpOp::kGtu, Comparison::kGtu}, {CmpOp::kGeu, Comparison::kGeu},
      {CmpOp::kNum, Comparison::kNum}, {CmpOp::kNan, Comparison::kNan}};
  const std::pair<Type, Action> types[] = {
      {Type::kS32, Action::kCompareS32}, {Type::kU32, Action::kCompareU32},
      {Type::kS64, Action::kCompareS64}, {Type::kU64, Action::kCompareU64},
      {Type::kF64, Action::kCompareF64}, {Type::kF32, Action::kCompareF32}};
  for (const auto& [type, action] : types) {
    for (const auto& [cmp, comparison] : comparisons) {
      ptx::Instruction code = instruction(Opcode::kSetp, type);
      code.cmp = cmp;
      for (bool combined : {false, true}) {
        code.bool_op = combined ? ptx::BoolOp::kAnd : ptx::BoolOp::kNone;
        const Handlers h = select_setp(code);
        if (!h) continue;
        Meaning m;
        m.action = action;
        m.comparison = comparison;
        m.combined = combined;
        m.wide_a = h.wide_a, m.wide_b = h.wide_b;
        table.emplace(h.full, m);
      }
    }
  }
  auto logic = [&](Opcode op, Action action) {
    put(table, select_predicate_logic(instruction(op, Type::kPred)), action);
  };
  logic(Opcode::kAnd, Action::kLogicAnd);
  logic(Opcode::kOr, Action::kLogicOr);
  logic(Opcode::kXor, Action::kLogicXor);
  logic(Opcode::kNot, Action::kLogicNot);
  logic(Opcode::kMov, Action::kLogicCopy);
}

void put_memory(Table& table) {
  for (bool wide : {false, true}) {
    const Handler h = select_address(wide);
    put(table, Handlers{h, h, false, wide}, Action::kAddress);
  }
  MemorySite site;
  for (bool watch : {false, true}) {
    for (ptx::Space space :
         {ptx::Space::kGeneric, ptx::Space::kGlobal, ptx::Space::kShared, ptx::Space::kLocal}) {
      for (int bytes : {1, 2, 4, 8}) {
        for (int elements : {1, 2, 4}) {
          site.space = space;
          site.element_bytes = uint8_t(bytes);
          site.elements = uint8_t(elements);
          put(table, select_load(site, watch), Action::kLoad);
          put(table, select_store(site, watch), Action::kStore);
        }
      }
    }
  }
}

void put_between_lanes(Table& table) {
  for (const ptx::ShflMode mode :
       {ptx::ShflMode::kUp, ptx::ShflMode::kDown, ptx::ShflMode::kBfly, ptx::ShflMode::kIdx}) {
    Meaning m;
    m.action = Action::kShuffle;
    m.shuffle = mode;
    table.emplace(ops::shuffle(mode), m);
  }
  for (const ptx::VoteMode mode :
       {ptx::VoteMode::kAll, ptx::VoteMode::kAny, ptx::VoteMode::kUni, ptx::VoteMode::kBallot}) {
    Meaning m;
    m.action = Action::kVote;
    m.vote = mode;
    table.emplace(ops::vote(mode), m);
  }
}

void put_control(Table& table) {
  put(table, &ops::load_param, Action::kLoadParam);
  put(table, &ops::barrier_sync, Action::kBarrier);
  put(table, &ops::count_fma, Action::kCountFma);
  put(table, &ops::guard, Action::kGuard);
  put(table, &ops::guard_not, Action::kGuard);
  put(table, &ops::enter, Action::kEnter);
  put(table, &ops::enter_uncounted, Action::kEnter);
  put(table, &ops::branch, Action::kBranch);
  put(table, &ops::branch_if, Action::kBranchIf);
  put(table, &ops::branch_if_not, Action::kBranchIfNot);
  put(table, &ops::branch_table, Action::kBranchTable);
  put(table, &ops::ret, Action::kReturn);
  put(table, &ops::exit, Action::kExit);
}

}  // namespace

const Meaning& meaning_of(const Op& op) {
  static const Table table = [] {
    Table t;
    put_control(t);
    put_memory(t);
    put_moves(t);
    put_floats(t);
    put_integers(t);
    put_comparisons(t);
    put_between_lanes(t);
    put_handled(t);
    return t;
  }();
  static const Meaning other;
  const auto it = table.find(op.full);
  return it == table.end() ? other : it->second;
}

int source_rows(Action action) {
  using A = Action;
  switch (action) {
    case A::kNot32:
    case A::kNeg32:
    case A::kNot64:
    case A::kNeg64:
    case A::kCopy32:
    case A::kCopy64:
    case A::kWidenU:
    case A::kWidenS:
    case A::kNarrow:
    case A::kNegF:
    case A::kAbsF:
    case A::kSqrtF:
    case A::kNegD:
    case A::kAbsD:
    case A::kFloatOfS32:
    case A::kFloatOfU32:
    case A::kDoubleOfS32:
    case A::kDoubleOfFloat:
    case A::kHandled1:
      return 1;
    case A::kMad32:
    case A::kLop3:
    case A::kMad64:
    case A::kMadWideS:
    case A::kMadWideU:
    case A::kFmaF:
    case A::kFmaD:
    case A::kHandled3:
      return 3;
    default:
      return action >= A::kAdd32 && action <= A::kCompareF32 ? 2 : 0;
  }
}

}  // namespace warpsim::jit
