#include "warpsim/exec/block.h"

#include <algorithm>
#include <cstring>

#include "warpsim/finding_text.h"
#include "warpsim/machine/engine.h"
#include "warpsim/machine/lift.h"
#include "warpsim/observe/barrier.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/observe/shared_shadow.h"

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

// No warp can go on: some wait at barriers that will never be complete.
void report_stuck(Block& block) {
  for (const Warp& w : block.worker->warps) {
    if (w.state != WarpState::kAtBarrier) continue;
    block.worker->halt(LaunchStatus::kTimeout, 702, report_waiting_for_ever(w));
    return;
  }
}

void report_budget(Block& block, const Warp& w) {
  const LaunchContext& launch = *block.worker->launch;
  const auto function = uint32_t(w.program - block.worker->image->programs.data());
  const uint32_t instruction = nearest_line(block.worker->image->module.functions[function],
                                            w.resume != nullptr ? w.resume->instruction : 0);
  const uint32_t lane = w.mask != 0 ? uint32_t(__builtin_ctz(w.mask)) : 0;
  Diagnostic facts;
  facts.code = Code::kTimeout;
  facts.cause = Cause::kInstructionBudget;
  facts.limit = launch.budget;
  Diagnostic* d = block.worker->reporter->add(facts.code, w, lane, function, instruction);
  if (d != nullptr) {
    d->cause = facts.cause;
    d->limit = facts.limit;
  }
  block.worker->halt(LaunchStatus::kTimeout, 702, sentence(facts));
}

// A barrier for some of the block's warps orders only them; counting it as an order of all can hide
// a race but never invents one.
void complete(Block& block, uint32_t id) {
  Barrier done = block.barriers[id];
  block.barriers[id] = {};
  block.interval_start = ++block.time;
  ++block.barriers_passed;
  block.worker->shared_shadow->barrier();
  if (done.expected_threads == 0 && done.first_waiting != nullptr && !block.warned_exited &&
      block.worker->launch->checks.barriers) {
    block.warned_exited = warn_about_exited(*done.first_waiting);
  }
  for (Warp& w : block.worker->warps) {
    w.sync_time = block.time;
    w.sync_stamp = block.worker->shared_shadow->now();
    if (w.state != WarpState::kAtBarrier || w.barrier_id != id) continue;
    w.state = WarpState::kReady;
    const Op* op = w.barrier_op;
    switch (op->barrier.mode) {
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

void check_complete(Block& block, uint32_t id) {
  Barrier& barrier = block.barriers[id];
  if (barrier.expected_threads != 0 ? barrier.arrived_threads >= barrier.expected_threads
                                    : barrier.arrived_warps >= block.live_warps) {
    complete(block, id);
  }
}

void start(Block& block, Worker& w, uint64_t linear_index) {
  block.worker = &w;
  block.linear = linear_index;
  block.index = w.launch->block_of(linear_index);
  block.time = block.interval_start = 1;
  block.barriers_passed = 0;
  block.warned_exited = false;
  block.barriers.fill({});
  w.shared_shadow->begin_block();
  // What the block before has left is nobody's to read; a fixed pattern (a NaN, or -1) keeps
  // results reproducible.
  for (const auto& range : w.launch->facts->shared_ranges)
    std::memset(w.shared + range.offset, 0xFF, range.bytes);
  if (w.launch->dynamic_shared_bytes != 0)
    std::memset(w.shared + w.image->shared_bytes, 0xFF, w.launch->dynamic_shared_bytes);
  block.live_warps = uint32_t(w.warps.size());
  for (Warp& warp : w.warps) {
    warp.reset_frames(*w.launch->kernel);
    if (warp.local != nullptr && !w.launch->facts->has_recursion) {
      std::memset(warp.local, 0xFF, size_t{kLanes} * w.local_bytes_per_thread);
    }
    prepare_block_specials(warp, *w.launch->kernel);
    warp.sync_stamp = w.shared_shadow->now();
    warp.sync_time = block.time;
    warp.resume = w.launch->kernel->ops.data();
  }
}

void interpret(Warp& warp, const Op* op) {
  while (op != nullptr) op = warp.mask == kAllLanes ? op->full(warp, op) : op->masked(warp, op);
}

// Adds what a warp's turn has used. False: the launch's budget is used up. Of several workers each
// reports now and then, for all would write to one cache line; whether the budget is exceeded in
// the end does not depend on that, and where it is, one worker finds out.
bool use(Worker& worker, uint64_t instructions) {
  constexpr uint64_t kReportEvery = 1 << 20;
  worker.used += instructions;
  if (worker.launch->parallel && worker.used - worker.reported < kReportEvery) return true;
  return report_used(worker);
}

// A launch that has run for a while is worth an engine.
void consider_engine(Worker& worker) {
  const LaunchContext& launch = *worker.launch;
  if (launch.engines == nullptr || worker.was_refused_engine || worker.used < launch.engine_after)
    return;
  worker.engine = launch.engines->engine_for(worker);
  worker.was_refused_engine = worker.engine == nullptr;
}

bool run_turn(Block& block) {
  bool progress = false;
  LaunchContext& launch = *block.worker->launch;
  for (Warp& warp : block.worker->warps) {
    if (warp.state != WarpState::kReady) continue;
    progress = true;
    warp.quantum = kQuantum;
    if (block.worker->engine == nullptr) consider_engine(*block.worker);
    if (block.worker->engine != nullptr)
      block.worker->engine->run(warp, warp.resume);
    else
      interpret(warp, warp.resume);
    if (launch.stop) return true;
    if (warp.state == WarpState::kFinished) {
      --block.live_warps;
      for (uint32_t id = 0; id < block.barriers.size(); ++id) {
        if (block.barriers[id].arrived_warps != 0) check_complete(block, id);
      }
    }
    const uint64_t used = uint64_t(kQuantum - std::max<int64_t>(warp.quantum, 0));
    if (use(*block.worker, used)) continue;
    report_budget(block, warp);
    return true;
  }
  return progress;
}

}  // namespace

bool report_used(Worker& worker) {
  LaunchContext& launch = *worker.launch;
  const uint64_t more = worker.used - worker.reported;
  worker.reported = worker.used;
  const bool fits =
      launch.used_instructions.fetch_add(more, std::memory_order_relaxed) + more <= launch.budget;
  if (!fits && launch.parallel) launch.repeat_serially = launch.stop = true;
  return fits;
}

void run_block(Worker& w, uint64_t linear_index) {
  Block& block = w.block;
  start(block, w, linear_index);
  while (block.live_warps > 0 && !w.launch->stop) {
    if (run_turn(block)) continue;
    report_stuck(block);
    return;
  }
}

void arrive(Warp& w, const Op* op, uint32_t id, uint32_t threads, bool waits) {
  Block& block = *w.block;
  Barrier& barrier = block.barriers[id];
  const uint32_t missing = w.started & ~w.exited & ~w.mask;
  if (missing != 0) {
    const Image& image = *block.worker->image;
    const auto ref = image.barriers[op->barrier.number];
    const ptx::Instruction& code = image.instruction(ref.function, ref.instruction);
    if (!code.aligned) {
      block.worker->halt(LaunchStatus::kUnsupported, 0,
                         code.mnemonic + " by part of a warp is not modelled (line " +
                             std::to_string(code.where.line) + ")");
      return;
    }
  }
  const bool watch = block.worker->launch->checks.barriers;
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
  const ptx::BarMode mode = op->barrier.mode;
  if (mode == ptx::BarMode::kRedAnd || mode == ptx::BarMode::kRedOr ||
      mode == ptx::BarMode::kRedPopc) {
    const uint32_t holds =
        (op->barrier.negated ? ~predicate(w, op->c) : predicate(w, op->c)) & w.mask;
    barrier.popc += uint32_t(__builtin_popcount(holds));
    barrier.all &= holds == w.mask;
    barrier.any |= holds != 0;
  }
  ++barrier.arrived_warps;
  barrier.arrived_threads += kLanes;
  if (threads != 0) barrier.expected_threads = (threads + kLanes - 1) / kLanes * kLanes;
  check_complete(block, id);
}

void warp_sync(Warp& w) {
  Block& block = *w.block;
  w.sync_time = ++block.time;
  w.sync_stamp = block.worker->shared_shadow->warp_sync();
}

}  // namespace warpsim
