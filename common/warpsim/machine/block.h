// The state of a thread block and of its barriers.

#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "warpsim/machine/bulk.h"
#include "warpsim/machine/known_work.h"
#include "warpsim/machine/mbarrier.h"
#include "warpsim/machine/standstill.h"

namespace warpsim {

struct Op;
struct Worker;
struct Warp;

struct Barrier {
  uint32_t arrived_warps = 0;     // warps that have arrived (waiting or not)
  uint32_t arrived_threads = 0;   // threads they count for
  uint32_t expected_threads = 0;  // 0: all threads of the block
  uint32_t warps = 0;             // which warps those are, bits
  uint32_t passing = 0;           // those of them that do not wait, and when they arrived
  std::array<uint32_t, 32> stamp{}, time{};
  uint32_t popc = 0;  // bar.red: threads whose predicate is true
  bool all = true, any = false;
  const Warp* first_waiting = nullptr;
  // For the next ones to arrive. Of `stamp` and `time` only those who pass are looked at.
  void clear() {
    arrived_warps = arrived_threads = expected_threads = warps = passing = popc = 0;
    all = true, any = false;
    first_waiting = nullptr;
  }
};

struct Block {
  Worker* worker = nullptr;
  uint64_t linear = 0;
  std::array<uint32_t, 3> index{};
  uint32_t live_warps = 0;
  uint32_t time = 0;  // barrier intervals and warp synchronisations so far, for the global shadow
  uint32_t interval_start = 0;     // `time` of the last barrier of all warps
  uint32_t last_barrier = 0;       // of any warps
  bool has_partial_order = false;  // some warp's known_stamp is not 0
  uint64_t barriers_passed = 0;
  bool warned_exited = false;  // reported that threads had left before a barrier
  std::array<Barrier, 16> barriers{};
  Mbarriers mbarriers;
  // How often waits at mbarriers that may be given up were told that the phase is not complete.
  std::vector<std::pair<const Op*, uint32_t>> looks;
  WordsOfWork words;
  BulkCopies bulk;
  uint32_t rounds_in_vain = 0;  // turns of all warps in which nobody got beyond a wait
  Standstill standstill;
  // Warps that have waited for the launch before (bits), and Block::time when they did so first;
  // whether one has let the next launch begin.
  uint32_t grid_waits = 0;
  std::array<uint32_t, 32> grid_wait_time{};
  bool lets_next_begin = false;
};

}  // namespace warpsim
