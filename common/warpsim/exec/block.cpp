#include "warpsim/exec/block.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "warpsim/exec/ops.h"
#include "warpsim/finding_text.h"
#include "warpsim/machine/engine.h"
#include "warpsim/machine/lift.h"
#include "warpsim/observe/barrier.h"
#include "warpsim/observe/mbarrier.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/observe/shared_shadow.h"
#include "warpsim/trace/recorder.h"

namespace warpsim {

namespace {

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
  // A warp that has done many times its share is in a loop; else the launch as a whole is too much.
  constexpr uint64_t kShares = 16, kFew = 100'000;
  const uint64_t warps = std::min(launch.block_count, UINT64_MAX / 64) * launch.warps_per_block;
  const uint64_t share = std::max(launch.budget / warps, kFew);
  uint64_t longest = 0;
  for (const Warp& one : block.worker->warps) longest = std::max(longest, one.instructions);
  const bool loops = longest >= kShares * share || 2 * longest >= launch.budget;
  Diagnostic facts;
  facts.code = Code::kTimeout;
  facts.limit = launch.budget;
  if (launch.local_bytes_per_thread >= kLargeLocalBytes) {
    facts.cause = Cause::kLocalMemory;
    facts.amount = launch.local_bytes_per_thread;
  } else {
    facts.cause = loops ? Cause::kInstructionBudget : Cause::kManyWarps;
    facts.amount = loops ? 0 : warps;
  }
  Diagnostic* d = block.worker->reporter->add(facts.code, w, lane, function, instruction);
  if (d != nullptr) {
    d->cause = facts.cause;
    d->limit = facts.limit;
    d->amount = facts.amount;
  }
  block.worker->halt(LaunchStatus::kTimeout, 702, sentence(facts));
}

// All warps of the block have met.
void order_all(Block& block) {
  block.interval_start = block.last_barrier = ++block.time;
  block.worker->shared_shadow->barrier();
  const uint32_t now = block.worker->shared_shadow->now();
  for (Warp& w : block.worker->warps) {
    w.sync_time = block.time;
    w.sync_stamp = w.any_sync_stamp = now;
    if (!block.has_partial_order) continue;
    w.known_stamp = {};
    w.known_time = {};
  }
  block.has_partial_order = false;
}

// A barrier of some warps orders these, and nobody else: those that waited for it come after all
// that arrived, and after what these had been ordered behind.
void order_some(Block& block, const Barrier& done, uint32_t waiting) {
  const uint32_t time = block.last_barrier = ++block.time;
  const uint32_t now = block.worker->shared_shadow->warp_sync();
  block.has_partial_order = true;
  std::array<uint32_t, 32> stamps{}, times{};
  for (const Warp& w : block.worker->warps) {
    if ((done.warps >> w.index & 1) == 0) continue;
    for (size_t x = 0; x < stamps.size(); ++x) {
      stamps[x] = std::max(stamps[x], w.known_stamp[x]);
      times[x] = std::max(times[x], w.known_time[x]);
    }
    const bool passes = (done.passing >> w.index & 1) != 0;
    stamps[w.index] = std::max(stamps[w.index], passes ? done.stamp[w.index] : now);
    times[w.index] = std::max(times[w.index], passes ? done.time[w.index] : time);
  }
  for (Warp& w : block.worker->warps) {
    if ((waiting >> w.index & 1) == 0) continue;
    w.known_stamp = stamps;
    w.known_time = times;
    w.sync_time = time;
    w.sync_stamp = w.any_sync_stamp = now;
  }
}

// What a barrier's completion gives those who waited, for bar.red.
void give_result(Warp& w, bool all, bool any, uint32_t count) {
  const Op* op = w.barrier_op;
  switch (op->barrier.mode) {
    case ptx::BarMode::kRedAnd:
      set_predicate(w, op->d, all ? kAllLanes : 0);
      break;
    case ptx::BarMode::kRedOr:
      set_predicate(w, op->d, any ? kAllLanes : 0);
      break;
    case ptx::BarMode::kRedPopc:
      for_each_lane(w.mask, [&](int lane) { row<uint32_t>(w, op->d)[lane] = count; });
      break;
    default:
      break;
  }
}

void complete(Block& block, uint32_t id) {
  Barrier& barrier = block.barriers[id];
  if (block.worker->recorder != nullptr) block.worker->recorder->complete(id);
  ++block.barriers_passed;
  uint32_t waiting = 0, live = 0;
  for (const Warp& w : block.worker->warps) {
    waiting |= uint32_t(w.state == WarpState::kAtBarrier && w.barrier_id == id) << w.index;
    live |= uint32_t(w.state != WarpState::kFinished) << w.index;
  }
  const bool is_of_all = (live & ~waiting) == 0;
  // Only a barrier that some pass needs to be known as a whole from here on.
  std::optional<Barrier> done;
  if (!is_of_all) done = barrier;
  const Warp* first_waiting = barrier.expected_threads == 0 ? barrier.first_waiting : nullptr;
  const bool all = barrier.all, any = barrier.any;
  const uint32_t count = barrier.popc;
  barrier.clear();
  if (is_of_all)
    order_all(block);
  else
    order_some(block, *done, waiting);
  if (first_waiting != nullptr && !block.warned_exited && block.worker->launch->checks.barriers) {
    block.warned_exited = warn_about_exited(*first_waiting);
  }
  for (Warp& w : block.worker->warps) {
    if ((waiting >> w.index & 1) == 0) continue;
    w.state = WarpState::kReady;
    give_result(w, all, any, count);
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
  block.time = block.interval_start = block.last_barrier = 1;
  block.has_partial_order = false;
  block.barriers_passed = 0;
  block.warned_exited = false;
  block.barriers.fill({});
  block.mbarriers.clear();
  block.looks.clear();
  block.words.begin_block();
  block.bulk.clear();
  block.rounds_in_vain = 0;
  block.grid_waits = 0;
  block.lets_next_begin = false;
  w.shared_shadow->begin_block();
  // What the block before has left is nobody's to read; a fixed pattern (a NaN, or -1) keeps
  // results reproducible.
  for (const auto& range : w.launch->facts->shared_ranges)
    std::memset(w.shared + range.offset, 0xFF, range.bytes);
  if (w.launch->dynamic_shared_bytes != 0)
    std::memset(w.shared + w.image->shared_bytes, 0xFF, w.launch->dynamic_shared_bytes);
  // What it takes to begin a block, in instructions that would take as long.
  constexpr uint64_t kOfBlock = 64, kOfWarp = 16, kFilledBytes = 256;
  const uint64_t warp_bytes =
      w.launch->facts->has_recursion ? 0 : kLanes * w.local_bytes_per_thread;
  const uint64_t shared_bytes = w.launch->static_shared_bytes + w.launch->dynamic_shared_bytes;
  w.used += kOfBlock + shared_bytes / kFilledBytes;
  w.used += w.warps.size() * (kOfWarp + warp_bytes / kFilledBytes);
  block.live_warps = uint32_t(w.warps.size());
  for (Warp& warp : w.warps) {
    warp.reset_frames(*w.launch->kernel);
    if (warp.local != nullptr && !w.launch->facts->has_recursion) {
      std::memset(warp.local, 0xFF, size_t{kLanes} * w.local_bytes_per_thread);
    }
    prepare_block_specials(warp, *w.launch->kernel);
    warp.sync_stamp = warp.any_sync_stamp = w.shared_shadow->now();
    warp.sync_time = block.time;
    warp.lanes.reset();
    warp.known_stamp = {};
    warp.known_time = {};
    warp.multiply_adds = warp.products = 0;
    warp.progress = {};
    if (warp.known != nullptr) warp.known->work = {};
    warp.resume = w.launch->kernel->ops.data();
  }
}

void interpret(Warp& warp, const Op* op) {
  while (op != nullptr) op = warp.mask == kAllLanes ? op->full(warp, op) : op->masked(warp, op);
}

// Adds what a warp's turn has used. False: the launch's budget is used up. Of several workers each
// reports now and then, for all would write to one cache line; whether the budget is exceeded in
// the end does not depend on that, and where it is, one worker finds out.
constexpr uint64_t kReportEvery = 1 << 20;

bool use(Worker& worker, uint64_t instructions) {
  worker.used += instructions;
  if (worker.used - worker.reported < kReportEvery) {
    if (worker.launch->parallel) return true;
    const uint64_t before = worker.launch->used_instructions.load(std::memory_order_relaxed);
    if (before + (worker.used - worker.reported) <= worker.launch->budget) return true;
  }
  return report_used(worker);
}

// How far the worker may go without asking: what use() would let pass.
uint64_t carefree_until(const Worker& worker) {
  const LaunchContext& launch = *worker.launch;
  if (launch.parallel) return worker.reported + kReportEvery;
  const uint64_t before = launch.used_instructions.load(std::memory_order_relaxed);
  const uint64_t left = before < launch.budget ? launch.budget - before : 0;
  return worker.reported + std::min(kReportEvery, left);
}

// A launch that has run for a while is worth an engine.
void consider_engine(Worker& worker) {
  const LaunchContext& launch = *worker.launch;
  if (launch.engines == nullptr || worker.was_refused_engine || worker.used < launch.engine_after)
    return;
  worker.engine = launch.engines->engine_for(worker);
  worker.was_refused_engine = worker.engine == nullptr;
}

// Lanes of the warp that are elsewhere may be those that are waited for. Who waits for a lock parts
// with them at once, who waits for a flag when no other block can help: most often all of the warp
// is to go on together.
void give_way(const LaunchContext& launch, Warp& w) {
  const bool has_sibling = !w.paths.empty() && w.paths.back().at != w.join;
  const bool is_stuck = !launch.may_interleave || w.block->rounds_in_vain > 0;
  if (w.waits_for_lock || has_sibling || w.is_split || is_stuck) w.give_way();
}

struct Done {
  bool any = false, useful = false;
  bool at_mbarriers = true;  // all waits are of this block's mbarriers: no other block can help
};

Done run_turn(Block& block) {
  Done done;
  Worker& worker = *block.worker;
  LaunchContext& launch = *worker.launch;
  for (size_t i = 0; i < worker.warps.size(); ++i) {
    Warp& first = worker.warps[i];
    if (first.state != WarpState::kReady) continue;
    done.any = true;
    first.quantum = worker.quantum;
    first.has_waited = false;
    if (worker.engine == nullptr) consider_engine(worker);
    if (worker.engine != nullptr) {
      // Compiled code goes on with the next warp by itself only where turns are the usual ones.
      worker.carefree_until = worker.quantum == kQuantum ? carefree_until(worker) : 0;
      worker.began_round = false;
      i = worker.engine->run(first, first.resume).index;
    } else {
      interpret(first, first.resume);
    }
    if (launch.stop) return done;
    Warp& warp = worker.warps[i];
    done.useful |= &warp != &first || worker.began_round;
    const bool waited = warp.has_waited && warp.state == WarpState::kReady;
    const bool at_mbarrier = waited && warp.waits_at == warp.mbarrier_wait.at;
    done.useful |= !waited || (at_mbarrier && !warp.mbarrier_wait.again);
    if (waited) {
      done.at_mbarriers &= at_mbarrier;
      give_way(launch, warp);
    }
    if (warp.state == WarpState::kFinished) {
      --block.live_warps;
      for (uint32_t id = 0; id < block.barriers.size(); ++id) {
        if (block.barriers[id].arrived_warps != 0) check_complete(block, id);
      }
    }
    const uint64_t used = uint64_t(worker.quantum - std::max<int64_t>(warp.quantum, 0));
    if (use(worker, used)) continue;
    report_budget(block, warp);
    return done;
  }
  return done;
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

// A loop that waits at an mbarrier may give up by itself after some time.
constexpr uint32_t kMostInVain = 1 << 16;

void begin_block(Worker& w, uint64_t linear_index) {
  start(w.block, w, linear_index);
}

Turn take_turn(Worker& w) {
  const Done done = run_turn(w.block);
  if (w.launch->stop) return Turn::kEnded;
  if (!done.any) {
    report_stuck(w.block);
    return Turn::kEnded;
  }
  if (w.block.live_warps == 0) {
    end_bulk_copies(w);
    if (w.block.grid_waits != 0 && !w.block.lets_next_begin) w.launch->waits_first = true;
    return Turn::kEnded;
  }
  if (done.useful) w.block.rounds_in_vain = 0;
  if (!done.useful && done.at_mbarriers) {
    const uint32_t turns = ++w.block.rounds_in_vain;
    if (turns < kMostInVain && !w.block.standstill.is_reached(w, turns)) return Turn::kGoesOn;
    report_mbarrier_deadlock(w.block);
    return Turn::kEnded;
  }
  return done.useful ? Turn::kGoesOn : Turn::kWaits;
}

void run_block(Worker& w, uint64_t linear_index) {
  constexpr uint64_t kInVain = 4'000'000;  // warp instructions
  begin_block(w, linear_index);
  uint64_t waited_since = w.used;
  for (Turn turn = Turn::kGoesOn; turn != Turn::kEnded;) {
    turn = take_turn(w);
    if (turn != Turn::kWaits) waited_since = w.used;
    if (w.used - waited_since < kInVain) continue;
    if (w.launch->parallel) {  // on one worker others may come to help
      w.launch->repeat_serially = w.launch->stop = true;
      return;
    }
    report_endless(w);
    return;
  }
}

void report_endless(Worker& worker) {
  for (const Warp& w : worker.warps) {
    if (w.state == WarpState::kReady) return report_budget(worker.block, w);
  }
}

namespace {

// Where the warp goes on; a loop that waits is left behind the access.
Image::InstructionRef place_of_wait(const Warp& w) {
  const auto function = uint32_t(w.program - w.worker->image->programs.data());
  const Op* at = w.state == WarpState::kAtBarrier ? w.barrier_op
                 : w.waits_at != nullptr          ? w.waits_at
                                                  : w.resume - 1;
  return {function, at->instruction};
}

uint32_t lane_of_wait(const Warp& w) {
  return w.mask != 0 ? uint32_t(__builtin_ctz(w.mask)) : 0;
}

}  // namespace

void report_deadlock(const std::vector<Worker*>& waiting) {
  const Warp* first = nullptr;
  const Warp* other = nullptr;  // one at another place, of another block if there is such
  for (const Worker* worker : waiting) {
    for (const Warp& w : worker->warps) {
      if (w.state == WarpState::kFinished) continue;
      if (first == nullptr && w.state == WarpState::kReady) first = &w;
      if (first == nullptr || first == &w) continue;
      const bool elsewhere = place_of_wait(w).instruction != place_of_wait(*first).instruction;
      if (other == nullptr && elsewhere) other = &w;
    }
  }
  if (first == nullptr) return;
  Worker& worker = *first->worker;
  const LaunchContext& launch = *worker.launch;
  const Image::InstructionRef at = place_of_wait(*first);
  Diagnostic facts;
  facts.code = Code::kDeadlock;
  facts.amount = waiting.size();
  const uint64_t begun = std::min<uint64_t>(launch.next_block, launch.block_count);
  facts.limit = launch.block_count - begun;
  if (other != nullptr) {
    const Image::InstructionRef there = place_of_wait(*other);
    facts.other.emplace();
    facts.other->block = other->block->index;
    facts.other->thread = launch.thread_of(other->index * kLanes + lane_of_wait(*other));
    worker.reporter->set_line(&*facts.other, there.function, there.instruction);
  }
  Diagnostic* d =
      worker.reporter->add(facts.code, *first, lane_of_wait(*first), at.function, at.instruction);
  if (d != nullptr) {
    d->amount = facts.amount;
    d->limit = facts.limit;
    d->other = facts.other;
  }
  worker.halt(LaunchStatus::kTimeout, 702, sentence(facts));
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
  if (block.worker->recorder != nullptr) block.worker->recorder->arrive(w, op, id, waits);
  ++barrier.arrived_warps;
  barrier.warps |= 1u << w.index;
  if (!waits) {
    barrier.passing |= 1u << w.index;
    barrier.stamp[w.index] = block.worker->shared_shadow->warp_sync();
    barrier.time[w.index] = ++block.time;
  }
  barrier.arrived_threads += kLanes;
  if (threads != 0) barrier.expected_threads = (threads + kLanes - 1) / kLanes * kLanes;
  check_complete(block, id);
}

bool meet(Warp& last, const Op* op, uint32_t id) {
  Block& block = *last.block;
  Worker& worker = *block.worker;
  Barrier& barrier = block.barriers[id];
  if (worker.recorder != nullptr || barrier.passing != 0 || barrier.expected_threads != 0 ||
      barrier.arrived_warps + 1 != worker.warps.size() || block.has_partial_order)
    return false;
  for (const Warp& w : worker.warps) {
    const bool waits = w.state == WarpState::kAtBarrier && w.barrier_op == op;
    if (w.mask != kAllLanes || (!waits && &w != &last)) return false;
  }
  ++worker.barrier_arrivals[op->barrier.number];
  ++block.barriers_passed;
  barrier.clear();
  order_all(block);
  for (Warp& w : worker.warps) w.state = WarpState::kReady;
  last.barrier_id = id;
  last.barrier_op = op;
  last.resume = op + 1;
  return true;
}

void warp_sync(Warp& w, const uint32_t* members) {
  Block& block = *w.block;
  w.sync_time = ++block.time;
  const uint32_t now = w.any_sync_stamp = block.worker->shared_shadow->warp_sync();
  const uint32_t all = w.started & ~w.exited;
  uint32_t common = w.mask;
  for_each_lane(w.mask, [&](int lane) { common &= members[lane]; });
  if ((all & ~common) == 0) {
    w.sync_stamp = now;
    return;
  }
  if (w.lanes == nullptr) w.lanes = std::make_unique<LaneOrder>();
  auto& stamp = w.lanes->stamp;
  for (uint32_t left = w.mask; left != 0;) {
    const int leader = __builtin_ctz(left);
    uint32_t group = 1u << leader;
    for_each_lane(left, [&](int lane) {
      if (members[lane] == members[leader] && (members[leader] >> lane & 1) != 0)
        group |= 1u << lane;
    });
    std::array<uint32_t, kLanes> merged{};
    for_each_lane(group, [&](int lane) {
      for (size_t k = 0; k < merged.size(); ++k)
        merged[k] = std::max(merged[k], stamp[size_t(lane)][k]);
    });
    for_each_lane(group, [&](int lane) { merged[size_t(lane)] = now; });
    for_each_lane(group, [&](int lane) { stamp[size_t(lane)] = merged; });
    left &= ~group;
  }
}

}  // namespace warpsim
