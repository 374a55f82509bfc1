// What an address is made of, as far as the text tells: a sum of registers whose values are not
// known, times constants, plus a constant. And by which power of two a value can be divided for
// certain.

#pragma once

#include <cstdint>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// Bytes from the beginning of the block's shared memory at which ptxas puts each shared variable,
// were `function` a kernel: those it names, in the order of their declaration, dynamic ones after
// the static ones. Per Module::variables; -1 for all others.
std::vector<int64_t> shared_layout(const Module& module, const Function& function);

// Sum of coefficient * value of `reg` (or address of the variable `symbol`), plus `offset`.
struct AddressForm {
  struct Term {
    int32_t reg = -1;      // index into Function::registers, -1: a symbol
    int32_t symbol = -1;   // index into Module::variables, -1: a register
    uint32_t version = 0;  // tells values of one register apart that are there at different times
    int64_t coefficient = 1;
    auto operator<=>(const Term&) const = default;
  };
  std::vector<Term> terms;  // ordered, no coefficient is 0
  int64_t offset = 0;       // bytes
};

// The forms of a function's addresses. Instructions have to be visited in order, block by block.
class AddressForms {
 public:
  AddressForms(const Module& module, const Function& function);

  void begin_block(uint32_t first_instruction);
  // After the operands of the instruction have been looked at.
  void pass(uint32_t instruction);
  // Of an address operand, at the place reached.
  AddressForm of(const Operand& operand) const;

  // The largest n <= 16 such that the terms' sum (without the offset) is a multiple of 2^n.
  uint32_t known_zero_bits(const std::vector<AddressForm::Term>& terms) const;

 private:
  void count_definitions();
  void find_zero_bits();
  uint32_t result_zero_bits(const Instruction& code) const;
  uint32_t zero_bits(const Operand& operand) const;
  AddressForm of_register(int32_t reg) const;
  AddressForm result(const Instruction& code) const;

  const Module& module_;
  const Function& function_;
  std::vector<int64_t> layout_;
  std::vector<uint32_t> definitions_;  // per register
  std::vector<uint8_t> zero_bits_;     // per register, over all its definitions
  std::vector<uint32_t> version_;      // of registers with several definitions, at this place
  std::vector<bool> has_form_;         // per register, if it has one definition and that was passed
  std::vector<AddressForm> forms_;
};

}  // namespace warpsim::ptx
