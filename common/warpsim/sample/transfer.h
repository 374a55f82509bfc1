// What one instruction makes of its operands, in terms of how they move with the block index.

#pragma once

#include <optional>
#include <vector>

#include "warpsim/sample/dependence.h"

namespace warpsim {
struct LaunchContext;
}

namespace warpsim::sample {

// What has to hold for the result to be right.
struct Demands {
  struct Need {
    Watch watch;
    Linear moves;
  };
  std::vector<Need> needs;
  std::vector<Phase> phases;

  // The value of source `operand` moves by `change` and has to stay within what `type` can hold.
  void no_wrap(uint32_t operand, const Linear& change, ptx::Type type, bool non_negative = false);
  void same_sign(uint32_t operand, const Linear& change, ptx::Type type);
  // A value that moves by `change` has to stay the same modulo `modulus`.
  void same_modulo(const Linear& change, int64_t modulus);
  // False if that would be too much to ask: more classes of blocks than anybody would run.
  static bool can_ask(const Linear& change, int64_t modulus);
};

class Transfer {
 public:
  Transfer(const LaunchContext& context, const std::vector<BlockValue>& registers)
      : context_(context), registers_(registers) {}

  BlockValue operand(const ptx::Operand& operand, ptx::Type type) const;
  // Of the instruction's first destination; `demands` may be null.
  BlockValue result(const ptx::Instruction& code, Demands* demands) const;
  // Of element `index` of a load of several.
  BlockValue loaded(const ptx::Instruction& code, size_t index) const;

 private:
  using Code = ptx::Instruction;

  BlockValue special(ptx::Special special) const;
  BlockValue source(const Code& code, size_t index) const;
  BlockValue source_without_number(const Code& code) const;
  BlockValue any_function(const Code& code) const;
  BlockValue add(const Code& code, int64_t sign) const;
  BlockValue multiply(const Code& code, Demands* demands) const;
  BlockValue widen(const Code& code, size_t index, ptx::Type from, Demands* demands) const;
  BlockValue shift_left(const Code& code) const;
  BlockValue divide(const Code& code, int64_t divisor, Demands* demands) const;
  BlockValue remainder(const Code& code, int64_t divisor, Demands* demands) const;
  BlockValue shift_right(const Code& code, Demands* demands) const;
  BlockValue mask(const Code& code, Demands* demands) const;
  BlockValue combine(const Code& code, Demands* demands) const;
  BlockValue compare(const Code& code, Demands* demands) const;
  BlockValue convert(const Code& code, Demands* demands) const;

  const LaunchContext& context_;
  const std::vector<BlockValue>& registers_;
};

}  // namespace warpsim::sample
