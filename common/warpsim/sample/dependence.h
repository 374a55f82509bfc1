// How a kernel's path and addresses depend on blockIdx: the proof behind sampling.
//
// An abstract interpretation of the PTX with the launch's arguments. Every register is either a
// linear function of the block index plus something that no block index enters, or is given up.
// Comparisons of such values, and conversions that could overflow, are watched while a block runs
// (watch.h): they leave the region of blocks for which all of them come out the same. Addresses
// become phases. A kernel whose branches, predicates of memory accesses or addresses depend on
// loaded data, or on the block index in another way (its bits, products, calls that were not
// inlined), is not regular.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpsim/machine/image.h"
#include "warpsim/sample/linear.h"
#include "warpsim/sample/region.h"

namespace warpsim {
struct LaunchContext;
}

namespace warpsim::sample {

// Something to look at whenever an instruction is about to be executed.
struct Watch {
  enum class Kind : uint8_t {
    kRange,    // operand a does not wrap around, nor (non_negative) fall below zero
    kCompare,  // a `cmp` b comes out the same
    kSign,     // a stays negative, or not
  };
  Kind kind = Kind::kRange;
  ptx::CmpOp cmp = ptx::CmpOp::kNone;
  ptx::Type type = ptx::Type::kS32;  // how to read the operands
  uint32_t a = 0, b = 0;             // indices of source operands
  uint32_t form = 0;                 // that moves a (kCompare: a - b), times 1 / den
  int64_t den = 1;
  bool non_negative = false;
};

struct Dependence {
  bool is_regular = true;
  std::string why;  // one clause when it is not: "the branch in line 12 depends on loaded data"
  uint32_t line = 0;
  Distinctions distinctions;
  std::vector<Watch> watches;
  std::vector<std::vector<uint32_t>> of_instruction;  // of the kernel: indices into watches
};

Dependence analyse_dependence(const LaunchContext& context);

}  // namespace warpsim::sample
