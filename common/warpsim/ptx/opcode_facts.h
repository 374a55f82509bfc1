// What whoever looks at a program, and does not execute it, has to know of an opcode. A new opcode
// does not compile until it is entered here.

#pragma once

#include <cstdint>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

struct OpcodeFacts {
  enum class Memory : uint8_t { kNone, kLoad, kStore, kAtomic, kCopy };
  // What the destinations are functions of.
  enum class Result : uint8_t {
    kOperands,  // the source operands of the same lane, or of lanes that operands name
    kMemory,    // what is in memory
    kOther,     // anything else: a flag, a call
  };
  // Which part of a multiprocessor is busy with it, where memory, space and type do not say so.
  enum class Unit : uint8_t {
    kUsual,
    kSlow,
    kTensor,
    kShuffle,
    kBarrier,
    kBranch,
    kExit,
    kCommitCopies,
    kWaitCopies
  };
  Memory memory = Memory::kNone;
  Result result = Result::kOperands;
  Unit unit = Unit::kUsual;
  bool is_control = false;  // decides which instruction is next, or waits
};

constexpr OpcodeFacts facts_of(Opcode op) {
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
  using O = Opcode;
  using Memory = OpcodeFacts::Memory;
  using Result = OpcodeFacts::Result;
  using Unit = OpcodeFacts::Unit;
  // clang-format off
  switch (op) {  // no default
    case O::kAdd: case O::kSub: case O::kMul: case O::kMul24: case O::kMad: case O::kMad24: case O::kFma:
    case O::kAbs: case O::kNeg: case O::kMin: case O::kMax: case O::kSad:
    case O::kPopc: case O::kClz: case O::kBfind: case O::kBrev: case O::kBfe: case O::kBfi: case O::kFns:
    case O::kBmsk: case O::kSzext: case O::kVabsdiff4: case O::kElect: case O::kHint:
    case O::kDp4a: case O::kDp2a: case O::kTanh: case O::kCopysign: case O::kTestp:
    case O::kAnd: case O::kOr: case O::kXor: case O::kNot: case O::kCnot: case O::kLop3:
    case O::kShl: case O::kShr: case O::kShf: case O::kPrmt:
    case O::kSetp: case O::kSet: case O::kSelp: case O::kSlct:
    case O::kMov: case O::kCvt: case O::kCvta: case O::kIsspacep:
    case O::kVote: case O::kMatch: case O::kRedux: case O::kActivemask:
    case O::kPrefetch: case O::kBarWarp: case O::kMembar: case O::kNanosleep:
      return {};
    case O::kShfl:
      return {.unit = Unit::kShuffle};
    case O::kCpAsyncCommit:
      return {.unit = Unit::kCommitCopies};
    case O::kCpAsyncWait:
      return {.unit = Unit::kWaitCopies};
    case O::kDiv: case O::kRem: case O::kRcp: case O::kSqrt: case O::kRsqrt: case O::kSin: case O::kCos:
    case O::kLg2: case O::kEx2:
      return {.unit = Unit::kSlow};
    case O::kAddc: case O::kSubc: case O::kMadc:
      return {.result = Result::kOther};
    case O::kLd: case O::kLdu:
      return {.memory = Memory::kLoad, .result = Result::kMemory};
    case O::kSt:
      return {.memory = Memory::kStore};
    case O::kAtom: case O::kRed:
      return {.memory = Memory::kAtomic, .result = Result::kMemory};
    case O::kCpAsync:
      return {.memory = Memory::kCopy};
    case O::kBar:
      return {.unit = Unit::kBarrier, .is_control = true};
    case O::kBra:
      return {.unit = Unit::kBranch, .is_control = true};
    case O::kRet: case O::kExit:
      return {.unit = Unit::kExit, .is_control = true};
    case O::kBrx: case O::kTrap: case O::kBrkpt:
      return {.is_control = true};
    case O::kCall:
      return {.result = Result::kOther, .is_control = true};
    case O::kMma:  // made of all lanes' operands
      return {.result = Result::kOther, .unit = Unit::kTensor};
    case O::kLdmatrix:
      return {.memory = Memory::kLoad, .result = Result::kOther};
    case O::kStmatrix:
      return {.memory = Memory::kStore};
    case O::kMovmatrix:  // crosses lanes as a shuffle does
      return {.result = Result::kOther, .unit = Unit::kShuffle};
    case O::kMbarrier: case O::kMbarrierPending:
      return {.result = Result::kOther};
    case O::kCopiesArrive: case O::kProxyFence: case O::kBulkCopy: case O::kBulkCommit: case O::kBulkWait:
      return {};
    case O::kTex: case O::kSuld: case O::kTexQuery:  // of arrays that only objects know
      return {.result = Result::kOther};
    case O::kSust:
      return {};
    case O::kMbarrierWait:
      return {.result = Result::kOther, .is_control = true};
    // Replaced by others before anything looks at them (wmma.h).
    case O::kWmmaLoad: case O::kWmmaStore:
      return {.result = Result::kMemory};
    case O::kWmmaMma:
      return {.result = Result::kOther, .unit = Unit::kTensor};
    case O::kUnknown: case O::kCount:
      return {.result = Result::kOther};
  }
    // clang-format on
#pragma GCC diagnostic pop
  return {};
}

}  // namespace warpsim::ptx
