// bar, barrier, bar.warp.sync, fences and griddepcontrol.
//
// barrier_sync, barrier_arrive: a = row of the barrier's number, b = row of the thread count (0:
// all threads of the block). bar.red: c = predicate operand, d = result.

#include "warpsim/exec/block.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/barrier.h"
#include "warpsim/observe/global_shadow.h"

namespace warpsim::ops {

namespace {

uint32_t first_lane_value(const Warp& w, uint32_t at) {
  return row<uint32_t>(w, at)[__builtin_ctz(w.mask)];
}

}  // namespace

const Op* barrier_sync(Warp& w, const Op* op) {
  if (w.is_split) {
    const Op* next = w.gather(op);
    if (next != op) return next;
  }
  ++w.worker->barrier_arrivals[op->barrier.number];
  const uint32_t threads = op->b != 0 ? first_lane_value(w, op->b) : 0;
  w.stop(op + 1, WarpState::kAtBarrier);
  arrive(w, op, first_lane_value(w, op->a) & 15, threads, true);
  // The last warp to arrive goes on at once.
  return w.state == WarpState::kAtBarrier ? nullptr : op + 1;
}

const Op* barrier_arrive(Warp& w, const Op* op) {
  ++w.worker->barrier_arrivals[op->barrier.number];
  const uint32_t threads = op->b != 0 ? first_lane_value(w, op->b) : 0;
  arrive(w, op, first_lane_value(w, op->a) & 15, threads, false);
  return op + 1;
}

// Warps run one after the other, and what is written is seen at once: a fence only orders, for
// those who look for races.
const Op* fence(Warp& w, const Op* op) {
  const GlobalShadows* shadows = w.worker->launch->shadows;
  if (shadows != nullptr && shadows->order() != nullptr)
    shadows->order()->fence(w, op->fence.scope == Fence::kDevice);
  return op + 1;
}

// Launches run one after the other, so nobody needs to wait: who did is kept for those who look for
// races between them.
const Op* grid_wait(Warp& w, const Op* op) {
  Block& block = *w.block;
  const uint32_t bit = 1u << w.index;
  if ((block.grid_waits & bit) == 0) block.grid_wait_time[w.index] = block.time;
  block.grid_waits |= bit;
  return op + 1;
}

const Op* let_next_begin(Warp& w, const Op* op) {
  LaunchContext& launch = *w.worker->launch;
  if (!w.block->lets_next_begin && w.block->grid_waits != 0) launch.waits_first = true;
  w.block->lets_next_begin = true;
  launch.lets_next_begin = true;
  return op + 1;
}

const Op* warp_sync(Warp& w, const Op* op) {
  if (w.is_split) {
    const Op* next = w.gather(op);
    if (next != op) return next;
  }
  const uint32_t* members = row<uint32_t>(w, op->lanes.members);
  check_mask(w, op, members);
  warpsim::warp_sync(w, members);
  return op + 1;
}

}  // namespace warpsim::ops
