// What the elements of arrays are. PTX may load and store floats as mere words of 32 bits: a word
// that comes from an array and goes into a multiply-add is a float, and so are the array's
// elements.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace warpsim::trace {

class ValueTypes {
 public:
  // Numbers the function's registers; returns that of the first.
  uint32_t add(const ptx::Function& function);
  uint32_t add_array();
  // The array's elements, and the register, hold the same.
  void join(uint32_t a, uint32_t b);
  // What is known of the member's values, which are `bytes` wide each: "f32", "u32".
  std::string name(uint32_t member, uint32_t bytes, ptx::Type declared) const;
  // The same of a type alone.
  static std::string name_of(ptx::Type type, uint32_t bytes);

 private:
  void note(uint32_t member, ptx::Type type);
  uint32_t root(uint32_t member) const;

  mutable std::vector<uint32_t> parent_;
  std::vector<uint32_t> seen_;  // bits by ptx::Type, of roots
};

}  // namespace warpsim::trace
