// A random program on the simulator, with data of its own.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tests/oracle/generate.h"
#include "warpsim/sim.h"

namespace oracle {

struct Buffers {
  std::vector<uint8_t> in, out, counters;
};

Buffers start_values(const Program& program, uint32_t seed);
std::vector<uint8_t> parameters(std::initializer_list<uint64_t> words);
// Loads the program, launches it and unloads it again; `buffers`: as it leaves them.
warpsim::LaunchReport simulate(warpsim::Simulator* sim, const Program& program, Buffers* buffers);

// A number from the environment: how many programs, from which seed on.
uint32_t from_environment(const char* name, uint32_t otherwise);

}  // namespace oracle
