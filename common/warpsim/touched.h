// What a launch or a copy touches of memory.

#pragma once

#include <cstdint>
#include <string>

namespace warpsim {

// Bytes, [first, end), and the line of device code that touches them.
struct Touched {
  uint64_t first = 0, end = 0;
  bool writes = false;
  std::string file;
  uint32_t line = 0;
};

}  // namespace warpsim
