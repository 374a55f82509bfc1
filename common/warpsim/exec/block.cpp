#include "warpsim/exec/block.h"

#include <algorithm>
#include <cstring>

#include "warpsim/exec/lanes.h"
#include "warpsim/exec/worker.h"
#include "warpsim/observe/barrier.h"

namespace warpsim {

namespace {

constexpr int64_t kQuantum = 1 << 20;  // instructions until another warp of the block gets its turn

// The instruction at or after `from`, else before it, whose source line is known.
uint32_t nearest_line(const ptx::Function& function, uint32_t from) {
  for (uint32_t i = from; i < function.code.size(); ++i) {
    if (function.code[i].where.line != 0) return i;
  }
  for (uint32_t i = from; i > 0; --i) {
    if (function.code[i - 1].where.line != 0) return i - 1;
  }
  return from;
}

}  // namespace

void Block::start(Worker& w, uint64_t linear_index) {
  worker = &w;
  linear = linear_index;
  index = w.launch->block_of(linear_index);
  time = interval_start = 1;
  warned_exited = false;
  barriers.fill({});
  w.shared_shadow.begin_block();
  // What the block before has left is nobody's to read; a fixed pattern (a NaN, or -1) keeps
  // results reproducible.
  for (const auto& range : w.launch->facts->shared_ranges)
    std::memset(w.shared + range.offset, 0xFF, range.bytes);
  if (w.launch->dynamic_shared_bytes != 0)
    std::memset(w.shared + w.image->shared_bytes, 0xFF, w.launch->dynamic_shared_bytes);
  w.reporter.current_block = linear_index;
  live_warps = uint32_t(w.warps.size());
  for (Warp& warp : w.warps) {
    warp.reset_frames(*w.launch->kernel);
    if (warp.local != nullptr && !w.launch->facts->has_recursion) {
      std::memset(warp.local, 0xFF, size_t{kLanes} * w.local_bytes_per_thread);
    }
    prepare_block_specials(warp, *w.launch->kernel);
    warp.sync_stamp = w.shared_shadow.now();
    warp.sync_time = time;
    warp.resume = w.launch->kernel->ops.data();
  }
}

void Block::run(Worker& w, uint64_t linear_index) {
  start(w, linear_index);
  while (live_warps > 0 && !w.launch->stop) {
    if (run_turn()) continue;
    report_stuck();
    return;
  }
}

bool Block::run_turn() {
  bool progress = false;
  LaunchContext& launch = *worker->launch;
  for (Warp& warp : worker->warps) {
    if (warp.state != WarpState::kReady) continue;
    progress = true;
    warp.quantum = kQuantum;
    const Op* op = warp.resume;
    while (op != nullptr) op = warp.mask == kAllLanes ? op->full(warp, op) : op->masked(warp, op);
    if (launch.stop) return true;
    if (warp.state == WarpState::kFinished) {
      --live_warps;
      for (uint32_t id = 0; id < barriers.size(); ++id) {
        if (barriers[id].arrived_warps != 0) check_complete(id);
      }
    }
    const uint64_t used = uint64_t(kQuantum - std::max<int64_t>(warp.quantum, 0));
    if (launch.used_instructions.fetch_add(used, std::memory_order_relaxed) + used <= launch.budget)
      continue;
    report_budget(warp);
    return true;
  }
  return progress;
}

void Block::arrive(Warp& w, const Op* op, uint32_t id, uint32_t threads, bool waits) {
  Barrier& barrier = barriers[id];
  const Image& image = *worker->image;
  const auto ref = image.barriers[op->aux];
  const ptx::Instruction& code = image.instruction(ref.function, ref.instruction);
  const uint32_t missing = w.started & ~w.exited & ~w.mask;
  if (missing != 0 && !code.aligned) {
    worker->halt(LaunchStatus::kUnsupported, 0,
                 code.mnemonic + " by part of a warp is not modelled (line " +
                     std::to_string(code.where.line) + ")");
    return;
  }
  const bool watch = worker->launch->checks.barriers;
  if (missing != 0 && watch) report_missing_lanes(w, op, missing);
  if (waits) {
    w.barrier_id = id;
    w.barrier_op = op;
    if (watch && threads == 0 && barrier.first_waiting != nullptr &&
        barrier.first_waiting->barrier_op != op) {
      report_different_lines(w, *barrier.first_waiting);
    }
    if (barrier.first_waiting == nullptr) barrier.first_waiting = &w;
  }
  if (code.bar == ptx::BarMode::kRedAnd || code.bar == ptx::BarMode::kRedOr ||
      code.bar == ptx::BarMode::kRedPopc) {
    const uint32_t holds = (op->imm >> 8 & 1 ? ~predicate(w, op->c) : predicate(w, op->c)) & w.mask;
    barrier.popc += uint32_t(__builtin_popcount(holds));
    barrier.all &= holds == w.mask;
    barrier.any |= holds != 0;
  }
  ++barrier.arrived_warps;
  barrier.arrived_threads += kLanes;
  if (threads != 0) barrier.expected_threads = (threads + kLanes - 1) / kLanes * kLanes;
  check_complete(id);
}

void Block::check_complete(uint32_t id) {
  Barrier& barrier = barriers[id];
  if (barrier.expected_threads != 0 ? barrier.arrived_threads >= barrier.expected_threads
                                    : barrier.arrived_warps >= live_warps) {
    complete(id);
  }
}

// A barrier for some of the block's warps orders only them; counting it as an order of all can hide
// a race but never invents one.
void Block::complete(uint32_t id) {
  Barrier done = barriers[id];
  barriers[id] = {};
  interval_start = ++time;
  worker->shared_shadow.barrier();
  if (done.expected_threads == 0 && done.first_waiting != nullptr && !warned_exited &&
      worker->launch->checks.barriers) {
    warned_exited = warn_about_exited(*done.first_waiting);
  }
  for (Warp& w : worker->warps) {
    w.sync_time = time;
    w.sync_stamp = worker->shared_shadow.now();
    if (w.state != WarpState::kAtBarrier || w.barrier_id != id) continue;
    w.state = WarpState::kReady;
    const Op* op = w.barrier_op;
    switch (ptx::BarMode(op->imm & 0xFF)) {
      case ptx::BarMode::kRedAnd:
        set_predicate(w, op->d, done.all ? kAllLanes : 0);
        break;
      case ptx::BarMode::kRedOr:
        set_predicate(w, op->d, done.any ? kAllLanes : 0);
        break;
      case ptx::BarMode::kRedPopc:
        for_each_lane(w.mask, [&](int lane) { row<uint32_t>(w, op->d)[lane] = done.popc; });
        break;
      default:
        break;
    }
  }
}

void Block::warp_sync(Warp& w) {
  w.sync_time = ++time;
  w.sync_stamp = worker->shared_shadow.warp_sync();
}

// No warp can go on: some wait at barriers that will never be complete.
void Block::report_stuck() {
  for (const Warp& w : worker->warps) {
    if (w.state != WarpState::kAtBarrier) continue;
    worker->halt(LaunchStatus::kTimeout, 702, report_waiting_for_ever(w));
    return;
  }
}

void Block::report_budget(const Warp& w) {
  const LaunchContext& launch = *worker->launch;
  const auto function = uint32_t(w.program - worker->image->programs.data());
  const uint32_t instruction = nearest_line(worker->image->module.functions[function],
                                            w.resume != nullptr ? w.resume->instruction : 0);
  const uint32_t lane = w.mask != 0 ? uint32_t(__builtin_ctz(w.mask)) : 0;
  const std::string text = "the launch used up its budget of " + std::to_string(launch.budget) +
                           " warp instructions: a loop without end?";
  Diagnostic* d = worker->reporter.add(Fault::kTimeout, w, lane, function, instruction);
  if (d != nullptr) d->message = text;
  worker->halt(LaunchStatus::kTimeout, 702, text);
}

}  // namespace warpsim
