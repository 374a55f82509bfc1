// Reads what ptxas wrote: per kernel its machine instructions and the PTX line each came from.
//
// Only the container is read here (ELF, the line table); machine_code.h says what the words mean.
// Works for the 128-bit instructions of compute capability 7.0 and later. Line numbers are there if
// ptxas ran with --generate-line-info.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpsim {

struct MachineWord {
  uint64_t low = 0, high = 0;
  uint32_t ptx_line = 0;  // 1-based, in the text that ptxas read; 0: not known

  // `count` bits from bit `at` of the 128; they do not straddle bit 64.
  uint64_t bits(unsigned at, unsigned count) const {
    const uint64_t half = at < 64 ? low >> at : high >> (at - 64);
    return half & ((uint64_t{1} << count) - 1);
  }
};

struct CubinKernel {
  std::string name;      // mangled
  int architecture = 0;  // 90: compute capability 9.0
  std::vector<MachineWord> code;
};

// Throws std::runtime_error with one sentence if this is no cubin or a damaged one.
std::vector<CubinKernel> read_cubin(std::string_view bytes);

}  // namespace warpsim
