// What ptxas said about each kernel: resources.json, written by the grader.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "warpsim/sim.h"

namespace tilewise {

struct KernelResources {
  uint32_t registers = 0;  // per thread
  uint64_t spill_store_bytes = 0, spill_load_bytes = 0;
  warpsim::StackFrames stack;
  std::string cubin;  // path of the file that ptxas wrote, for the time model; may be empty
};

using Resources = std::map<std::string, KernelResources>;  // by mangled name

// {"<mangled>": {"registers": R, "spill_store_bytes": S, "spill_load_bytes": L, "cubin": PATH,
// "frames": {"<mangled>": BYTES}, "reserved_stack_bytes": B}}; all but registers may be left out.
// Throws InputError.
Resources read_resources(const std::string& path);

}  // namespace tilewise
