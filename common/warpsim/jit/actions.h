// What a decoded operation does, told from its handler: the compiler's view of exec/.
//
// Handlers are asked of the same functions that the decoder asks (exec/ops.h), so an operation has
// a meaning here only if its handler is the very function whose effect is known.

#pragma once

#include <cstdint>

#include "warpsim/machine/program.h"

namespace warpsim::jit {

enum class Action : uint8_t {
  kOther,  // its handler does it; it may read and write any row
  // Lane by lane, d from a, b, c.
  kAdd32,
  kSub32,
  kMul32,
  kMad32,
  kAnd32,
  kOr32,
  kXor32,
  kNot32,
  kNeg32,
  kMinS32,
  kMaxS32,
  kMinU32,
  kMaxU32,
  kShl32,
  kShrU32,
  kShrS32,
  kLop3,
  kAdd64,
  kSub64,
  kMul64,
  kMad64,
  kAnd64,
  kOr64,
  kXor64,
  kNot64,
  kNeg64,
  kShl64,
  kShrU64,
  kMulWideS,
  kMulWideU,
  kMadWideS,
  kMadWideU,
  kAddF,
  kSubF,
  kMulF,
  kFmaF,
  kNegF,
  kAbsF,
  kMinF,
  kMaxF,
  kDivF,
  kSqrtF,
  kAddD,
  kSubD,
  kMulD,
  kFmaD,
  kNegD,
  kAbsD,
  kFloatOfS32,
  kFloatOfU32,
  kDoubleOfS32,
  kDoubleOfFloat,
  kShrS64,
  // Their handlers do them, lane by lane, from so many source rows.
  kHandled1,
  kHandled2,
  kHandled3,
  kCopy32,
  kCopy64,
  kWidenU,
  kWidenS,
  kNarrow,
  kSelect32,
  kSelect64,
  // Predicates.
  kCompareS32,
  kCompareU32,
  kCompareS64,
  kCompareU64,
  kCompareF64,
  kCompareF32,
  kLogicAnd,
  kLogicOr,
  kLogicXor,
  kLogicNot,
  kLogicCopy,
  // Known by what they read and write; their handlers do them.
  kLoadParam,
  kBarrier,
  kCountFma,
  kShuffle,
  kVote,
  kGuard,  // of the operations that follow
  // Memory and control.
  kAddress,
  kLoad,
  kStore,
  kEnter,
  kBranch,
  kBranchIf,
  kBranchIfNot,
  kBranchTable,
  kReturn,
  kExit,
};

// How two operands compare; of floats: an operand that is a NaN decides.
enum class Comparison : uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};

struct Meaning {
  Action action = Action::kOther;
  Comparison comparison = Comparison::kEq;
  bool combined = false;  // a comparison with a predicate to combine with, or a second result
  ptx::ShflMode shuffle = ptx::ShflMode::kUp;
  ptx::VoteMode vote = ptx::VoteMode::kAll;
  bool wide_d = false, wide_a = false, wide_b = false, wide_c = false;  // rows of 64 bits
};

const Meaning& meaning_of(const Op& op);

// How many of a, b, c are source rows of an operation that works lane by lane; 0 for all others.
int source_rows(Action action);

}  // namespace warpsim::jit
