// Runs one thread block: its warps take turns, each running until it waits at a barrier, has
// finished or has used up its quantum.

#pragma once

#include <cstdint>

#include "warpsim/machine/worker.h"

namespace warpsim {

enum class Turn : uint8_t {
  kGoesOn,
  kWaits,  // all warps that could run are in loops that wait for others
  kEnded,  // the block, or the launch
};
void begin_block(Worker& worker, uint64_t linear_index);
// Every warp has one turn.
Turn take_turn(Worker& worker);
// A whole block, no other one running. `budget` ends a wait in vain.
void run_block(Worker& worker, uint64_t linear_index);
// Ends the launch as one that does not end: its budget is used up.
void report_endless(Worker& worker);
// The same, and says who waits: `waiting` blocks are resident, all warps of which wait for others.
void report_deadlock(const std::vector<Worker*>& waiting);
// Tells the launch of the instructions that the worker has used. False: they exceed its budget; of
// several workers' launch nothing more is then run, and it is repeated on one.
bool report_used(Worker& worker);
// A warp arrives at a barrier. `waits`: it stops until the barrier is complete.
void arrive(Warp& w, const Op* op, uint32_t id, uint32_t threads, bool waits);
// What arrive() and its caller do when the last warp comes to a barrier at which all others of the
// block wait, whole, at the same operation: compiled code's way. False: nothing done, as there is
// more to it.
bool meet(Warp& last, const Op* op, uint32_t id);
// The running lanes meet those that their masks name; `members`: by lane.
void warp_sync(Warp& w, const uint32_t* members);

}  // namespace warpsim
