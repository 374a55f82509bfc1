// Text -> Module. Accepts what `nvcc -ptx` writes and the stripped text inside a fatbinary.

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// A text that is not PTX as we know it. what() is one sentence that names the module, the line and
// what was expected.
class ParseError : public std::runtime_error {
 public:
  ParseError(std::string message, uint32_t ptx_line)
      : std::runtime_error(std::move(message)), ptx_line(ptx_line) {}
  uint32_t ptx_line;  // 1-based
};

// Parses one PTX text. `name` is used in messages. An instruction that is well formed but not
// modelled becomes Opcode::kUnknown (execution will say `unsupported`); malformed text throws
// ParseError. Never crashes on any input.
Module parse(std::string_view text, std::string name);

}  // namespace warpsim::ptx
