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
  // By a launch that may have begun early, before it had waited for the one before (see
  // Launch::is_early). What it touches then stands there once more without this.
  bool early = false;
};

}  // namespace warpsim
