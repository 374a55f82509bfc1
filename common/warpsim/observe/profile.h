// What the time model wants to know of a launch: how often each instruction ran, and where its
// global memory accesses went, in blocks that live on one multiprocessor at the same time.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "warpsim/counting/rules.h"
#include "warpsim/ptx/ir.h"

namespace warpsim {

struct Worker;
struct Pattern;

// The requests of one warp by one instruction, in order.
struct RequestTrace {
  std::vector<uint32_t> ends;   // request r has lines [ends[r - 1], ends[r])
  std::vector<uint64_t> lines;  // address / 128 << 4 | which of its four 32-byte sectors
};

// One memory instruction of the kernel.
struct SiteProfile {
  int32_t instruction = -1;  // index into ptx::Function::code
  bool is_store = false;
  uint64_t requests = 0;
  uint64_t moved_bytes = 0;  // global memory, by the device's counting rule
  // Wavefronts of a shared request, on average, and what they would be if it were 8 or 16 bytes
  // wide: ptxas merges neighbouring loads.
  std::array<double, 3> wavefronts{1, 1, 1};
};

struct BlockTrace {
  uint64_t block = 0;                            // linear index
  std::vector<std::vector<RequestTrace>> warps;  // [warp][site]
};

struct LaunchProfile {
  const ptx::Function* function = nullptr;  // lives as long as its module is loaded
  std::vector<double> executions;           // per PTX instruction, by one warp on average
  std::vector<SiteProfile> sites;
  std::vector<BlockTrace> blocks;  // in the order asked for
};

// Watches one worker while it executes the blocks of a profile.
class Tracer {
 public:
  explicit Tracer(const Worker& worker);
  void begin_block(uint64_t block);
  void global(uint32_t site, uint32_t warp, const WarpAccess& access, uint64_t moved_bytes);
  void shared(uint32_t site, const Pattern& pattern);
  void matrices(uint32_t site, uint64_t wavefronts);  // one ldmatrix or stmatrix
  // Everything seen; `function`: the kernel's index.
  LaunchProfile finish(uint32_t function);

 private:
  const Worker& worker_;
  LaunchProfile profile_;
  std::vector<std::array<uint64_t, 4>> shared_;  // per site: requests, wavefronts of the widths
};

}  // namespace warpsim
