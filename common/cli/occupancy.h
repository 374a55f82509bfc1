// `warpsim occupancy`: how many blocks of a kernel fit an SM, as JSON.

#pragma once

#include <cstdint>
#include <string>

namespace warpsim::cli {

struct OccupancyQuestion {
  std::string device = "h200";
  uint32_t registers = 0;     // per thread
  uint32_t shared_bytes = 0;  // per block, static and dynamic
  uint32_t threads = 0;       // per block
};

// The answer, one line: schema "warpsim.occupancy/1". Throws std::runtime_error with one sentence
// for an unknown device and for a block that no SM of it takes.
std::string answer(const OccupancyQuestion& question);

}  // namespace warpsim::cli
