// In which order a warp runs the basic blocks of the machine code, and how often.
//
// The simulator counts how often each PTX instruction ran. ptxas unrolls loops and peels their
// ends, so one PTX instruction may stand several times in the machine code: a loop that holds it
// four times runs a quarter as often, and what is left over goes to the remainder behind it.

#pragma once

#include <cstdint>
#include <vector>

#include "warpsim/model/machine_code.h"

namespace warpsim {

struct CodeBlock {
  int32_t first = 0, end = 0;  // instructions [first, end)
  double runs = 0;             // by one warp, on average
};

struct Schedule {
  std::vector<CodeBlock> blocks;
  std::vector<uint32_t> order;  // blocks as an average warp runs them, repetitions included
};

// `executions`: per instruction of the PTX function, by one warp on average.
Schedule make_schedule(const MachineCode& code, const ptx::Function& function,
                       const std::vector<double>& executions);

}  // namespace warpsim
