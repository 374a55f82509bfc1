// Runs the machine code of one multiprocessor's resident warps against its limits, cycle by cycle:
// which instruction each scheduler can issue next, how long the load/store unit, the caches and the
// memory behind them keep it. This is where latency that other warps do not hide shows.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "warpsim/model/schedule.h"
#include "warpsim/observe/profile.h"
#include "warpsim/timing.h"

namespace warpsim {

// What a scheduler that issues nothing is waiting for.
enum class Wait : uint8_t { kArithmetic, kSharedMemory, kGlobalMemory, kBarrier, kUnit, kCount };

struct ReplayInput {
  const MachineCode* code = nullptr;
  const Schedule* schedule = nullptr;
  const LaunchProfile* profile = nullptr;
  const Timing* timing = nullptr;
  std::vector<size_t> blocks;  // indices into profile->blocks: resident together
  double l1_bytes = 0;         // left of the cache beside shared memory
  double l2_bytes_per_cycle = 64, memory_bytes_per_cycle = 16;  // this multiprocessor's share
  double memory_share = 0;  // of the bytes that miss in L1, those that L2 does not have either
  // Of the lines that the blocks touch, those that L2 does not have when they begin. One of the
  // multiprocessors that share a line brings it from memory; the others ask for it at about the
  // same time and wait as long.
  double cold_share = 0;
  // Those that lie in L2, but only in the half that an upload put them in.
  double other_half_share = 0;
};

struct ReplayResult {
  double cycles = 0;  // until the last block has finished
  // Sums over the blocks: cycles of one scheduler for issue to tensor, of the multiprocessor for
  // shared and global; bytes. Where one unit multiplies floats and integers, fma has both.
  double issue = 0, fma = 0, integer = 0, multiply = 0, slow = 0, tensor = 0;
  double shared = 0, global = 0, l2_bytes = 0, memory_bytes = 0;
  double l1_hits = 0, l1_sectors = 0;
  std::array<double, size_t(Wait::kCount)> waits{};  // scheduler cycles with nothing to issue
};

ReplayResult replay(const ReplayInput& input);

}  // namespace warpsim
