#include "warpsim/exec/runner.h"

#include <algorithm>
#include <cstdio>

#include "warpsim/exec/block.h"
#include "warpsim/exec/residents.h"
#include "warpsim/provenance/follower.h"
#include "warpsim/trace/recorder.h"

namespace warpsim {

namespace {

// Barriers that may not be for all warps of the block.
bool has_partial_barriers(const Image& image) {
  return std::any_of(
      image.barriers.begin(), image.barriers.end(), [&](const Image::InstructionRef& at) {
        const ptx::Instruction& code = image.instruction(at.function, at.instruction);
        const bool reduces = code.bar != ptx::BarMode::kNone && code.bar != ptx::BarMode::kSync &&
                             code.bar != ptx::BarMode::kArrive;
        return code.src.size() > (reduces ? 2u : 1u);
      });
}

// Words of shared memory by which warps may wait for each other.
bool has_flags(const Image& image) {
  return std::any_of(image.sites.begin(), image.sites.end(), [](const MemorySite& site) {
    return (site.space == ptx::Space::kShared || site.space == ptx::Space::kGeneric) &&
           (site.is_polling || (site.is_atomic && site.is_used));
  });
}

bool has_mbarriers(const Image& image) {
  return std::any_of(image.sites.begin(), image.sites.end(),
                     [](const MemorySite& site) { return site.is_mbarrier; });
}

}  // namespace

Runner::Runner(LaunchContext& context) : worker(context), reporter_(&context) {
  shared_shadow_.resize(context.shared_window_bytes + 64,
                        context.image->has_sub_word_shared ? 0 : 2, context.checks.initialised,
                        context.checks.races);
  shared_shadow_.expect(has_partial_barriers(*context.image), has_flags(*context.image),
                        has_mbarriers(*context.image), context.warps_per_block);
  worker.shared_shadow = &shared_shadow_;
  worker.reporter = &reporter_;
}

void Runner::run() {
  LaunchContext& launch = *worker.launch;
  while (!launch.stop) {
    const uint64_t next = launch.next_block.fetch_add(1, std::memory_order_relaxed);
    if (next >= launch.block_count) break;
    if (worker.follower != nullptr && worker.follower->leaves_out(next)) continue;
    run_block(next);
  }
  finish();
}

void Runner::finish() {
  if (worker.engine != nullptr) worker.engine->settle();
  report_used(worker);
}

void Runner::run_block(uint64_t linear_index) {
  if (residents == nullptr) {
    prepare(linear_index);
    warpsim::run_block(worker, linear_index);
    end();
    return;
  }
  begin(linear_index);
  const uint64_t before = worker.used;
  Turn turn = Turn::kGoesOn;
  bool is_long = false;
  while (turn == Turn::kGoesOn && !is_long) {
    turn = take_turn(worker);
    is_long = residents->is_too_long(worker.used - before);
  }
  if (turn != Turn::kEnded)
    residents->share(*this, is_long);  // which runs all that are left
  else
    end();
}

void Runner::begin(uint64_t linear_index) {
  prepare(linear_index);
  begin_block(worker, linear_index);
}

void Runner::prepare(uint64_t linear_index) {
  if (worker.patterns.full()) {
    for (Warp& w : worker.warps) {
      for (AddressGroup& g : w.groups) g.pattern = nullptr;
    }
    if (worker.engine != nullptr) worker.engine->settle();
    worker.patterns.clear();
  }
  if (worker.follower != nullptr) worker.follower->begin_block(linear_index);
  if (worker.recorder != nullptr) worker.recorder->begin_block(linear_index);
}

void Runner::end() {
  if (worker.recorder != nullptr) worker.recorder->end_block();
  std::string& printed = worker.printed;
  if (printed.empty()) return;
  if (worker.launch->options->print)
    worker.launch->options->print(printed);
  else
    std::fwrite(printed.data(), 1, printed.size(), stdout);
  printed.clear();
}

}  // namespace warpsim
