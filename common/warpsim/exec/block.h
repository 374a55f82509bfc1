// One thread block: its warps take turns, each running until it waits at a barrier, has finished or
// has used up its quantum.

#pragma once

#include <array>
#include <cstdint>

#include "warpsim/exec/program.h"

namespace warpsim {

struct Worker;
struct Warp;

struct Barrier {
  uint32_t arrived_warps = 0;     // warps that have arrived (waiting or not)
  uint32_t arrived_threads = 0;   // threads they count for
  uint32_t expected_threads = 0;  // 0: all threads of the block
  uint32_t popc = 0;              // bar.red: threads whose predicate is true
  bool all = true, any = false;
  const Warp* first_waiting = nullptr;
};

struct Block {
  Worker* worker = nullptr;
  uint64_t linear = 0;
  std::array<uint32_t, 3> index{};
  uint32_t live_warps = 0;
  uint32_t time = 0;  // barrier intervals and warp synchronisations so far, for the global shadow
  uint32_t interval_start = 0;  // `time` of the last barrier
  bool warned_exited = false;   // reported that threads had left before a barrier
  std::array<Barrier, 16> barriers{};

  void run(Worker& worker, uint64_t linear_index);
  // A warp arrives at a barrier. `waits`: it stops until the barrier is complete.
  void arrive(Warp& w, const Op* op, uint32_t id, uint32_t threads, bool waits);
  void warp_sync(Warp& w);

 private:
  void start(Worker& w, uint64_t linear_index);
  bool run_turn();  // true if any warp made progress
  void check_complete(uint32_t id);
  void complete(uint32_t id);
  void report_stuck();
  void report_budget(const Warp& w);
};

}  // namespace warpsim
