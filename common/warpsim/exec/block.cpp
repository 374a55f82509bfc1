#include "warpsim/exec/block.h"

#include <algorithm>
#include <cstring>

#include "warpsim/exec/lanes.h"
#include "warpsim/exec/worker.h"

namespace warpsim {

namespace {

constexpr int64_t kQuantum = 1 << 20;  // instructions until another warp of the block gets its turn

std::string lanes_text(const LaunchContext& launch, const Warp& w, uint32_t lanes) {
  return thread_name(launch, w.index * kLanes + uint32_t(__builtin_ctz(lanes)));
}

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

// The line at which lanes that do not run now wait, or 0.
uint32_t waiting_line(const Warp& w, uint32_t lanes) {
  const Image& image = *w.worker->image;
  for (auto path = w.paths.rbegin(); path != w.paths.rend(); ++path) {
    if (path->is_call) break;
    if (!(path->mask & lanes) || path->at == nullptr) continue;
    // The top-most entry that holds them; the enter operation's instruction is the first of its
    // block.
    const auto function = uint32_t(w.program - image.programs.data());
    return image.instruction(function, path->at->instruction).where.line;
  }
  return 0;
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
    if (launch.parallel) {
      launch.repeat_serially = true;
    } else {
      const auto function = uint32_t(warp.program - worker->image->programs.data());
      const uint32_t instruction =
          nearest_line(worker->image->module.functions[function],
                       warp.resume != nullptr ? warp.resume->instruction : 0);
      const uint32_t lane = warp.mask != 0 ? uint32_t(__builtin_ctz(warp.mask)) : 0;
      Diagnostic* d = worker->reporter.add(Fault::kTimeout, warp, lane, function, instruction);
      const std::string text = "the launch used up its budget of " + std::to_string(launch.budget) +
                               " warp instructions: a loop without end?";
      if (d != nullptr) d->message = text;
      worker->reporter.stop(LaunchStatus::kTimeout, 702, text);
    }
    launch.stop = true;
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
  if (missing != 0 && worker->launch->checks.barriers) {
    Diagnostic* d =
        worker->reporter.add(Fault::kBarrierDivergence, w, uint32_t(__builtin_ctz(missing)),
                             ref.function, ref.instruction);
    if (d != nullptr) {
      const uint32_t line = waiting_line(w, missing);
      d->message = "not all threads of the warp reach this barrier together: " +
                   lanes_text(*worker->launch, w, missing) + " does not" +
                   (line != 0 ? ", it goes on at line " + std::to_string(line) : "");
    }
  }
  if (waits) {
    w.barrier_id = id;
    w.barrier_op = op;
    if (threads == 0 && id == 0) check_same_line(w, op, id);
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
  for (Warp& w : worker->warps) {
    w.sync_time = time;
    w.sync_stamp = worker->shared_shadow.now();
    if (w.state != WarpState::kAtBarrier || w.barrier_id != id) continue;
    w.state = WarpState::kReady;
    const Op* op = w.barrier_op;
    if (done.expected_threads == 0) warn_about_exited(w, op);
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

// __syncthreads() has to be the same for all threads: warps that wait at different lines are in
// different branches.
void Block::check_same_line(const Warp& w, const Op* op, uint32_t id) {
  if (!worker->launch->checks.barriers) return;
  const Image& image = *worker->image;
  const auto here = image.barriers[op->aux];
  const ptx::SourceLine line = image.instruction(here.function, here.instruction).where;
  for (const Warp& other : worker->warps) {
    if (&other == &w || other.state != WarpState::kAtBarrier || other.barrier_id != id ||
        other.barrier_op == op)
      continue;
    const auto there = image.barriers[other.barrier_op->aux];
    const ptx::SourceLine other_line = image.instruction(there.function, there.instruction).where;
    if (line.line == 0 || other_line.line == 0 ||
        (line.line == other_line.line && line.file == other_line.file))
      return;
    Diagnostic* d =
        worker->reporter.add(Fault::kBarrierDivergence, w, uint32_t(__builtin_ctz(w.mask)),
                             here.function, here.instruction);
    if (d != nullptr) {
      worker->reporter.set_line(d, true, there.function, there.instruction);
      d->other_block = index;
      d->other_thread =
          worker->launch->thread_of(other.index * kLanes + uint32_t(__builtin_ctz(other.mask)));
      d->message = "waits at this barrier while " + lanes_text(*worker->launch, other, other.mask) +
                   " waits at the one of line " + std::to_string(other_line.line) +
                   ": all threads of a block have to reach the same __syncthreads()";
    }
    return;
  }
}

void Block::warn_about_exited(const Warp& w, const Op* op) {
  if (warned_exited || !worker->launch->checks.barriers) return;
  for (const Warp& other : worker->warps) {
    const uint32_t left = other.exited & other.started;
    if (left == 0) continue;
    warned_exited = true;
    const auto here = worker->image->barriers[op->aux];
    Diagnostic* d =
        worker->reporter.add(Fault::kBarrierDivergence, w, uint32_t(__builtin_ctz(w.mask)),
                             here.function, here.instruction);
    if (d != nullptr) {
      d->severity = Severity::kWarning;
      d->message = lanes_text(*worker->launch, other, left) +
                   " of the block returned before this barrier, so it does not take part in it";
    }
    return;
  }
}

// No warp can go on: some wait at barriers that will never be complete.
void Block::report_stuck() {
  LaunchContext& launch = *worker->launch;
  for (const Warp& w : worker->warps) {
    if (w.state != WarpState::kAtBarrier) continue;
    const auto here = worker->image->barriers[w.barrier_op->aux];
    const uint32_t lane = w.mask != 0 ? uint32_t(__builtin_ctz(w.mask)) : 0;
    const std::string text = "the warps of a block wait at barrier " +
                             std::to_string(w.barrier_id) +
                             " for ever: the other warps wait elsewhere or have finished";
    Diagnostic* d =
        worker->reporter.add(Fault::kBarrierDivergence, w, lane, here.function, here.instruction);
    if (d != nullptr) d->message = text;
    worker->reporter.stop(LaunchStatus::kTimeout, 702, text);
    break;
  }
  if (launch.parallel) launch.repeat_serially = true;
  launch.stop = true;
}

}  // namespace warpsim
