#include "warpsim/exec/runner.h"

#include <cstdio>

#include "warpsim/exec/block.h"
#include "warpsim/provenance/follower.h"

namespace warpsim {

Runner::Runner(LaunchContext& context) : worker(context), reporter_(&context) {
  shared_shadow_.resize(context.shared_window_bytes + 64,
                        context.image->has_sub_word_shared ? 0 : 2, context.checks.initialised,
                        context.checks.races);
  worker.shared_shadow = &shared_shadow_;
  worker.reporter = &reporter_;
}

void Runner::run() {
  LaunchContext& launch = *worker.launch;
  while (!launch.stop) {
    const uint64_t next = launch.next_block.fetch_add(1, std::memory_order_relaxed);
    if (next >= launch.block_count) break;
    run_block(next);
  }
  if (worker.engine != nullptr) worker.engine->settle();
  report_used(worker);
}

void Runner::run_block(uint64_t linear_index) {
  if (worker.patterns.full()) {
    for (Warp& w : worker.warps) {
      for (AddressGroup& g : w.groups) g.pattern = nullptr;
    }
    if (worker.engine != nullptr) worker.engine->settle();
    worker.patterns.clear();
  }
  if (worker.follower != nullptr) worker.follower->begin_block(linear_index);
  warpsim::run_block(worker, linear_index);
  std::string& printed = worker.printed;
  if (printed.empty()) return;
  if (worker.launch->options->print)
    worker.launch->options->print(printed);
  else
    std::fwrite(printed.data(), 1, printed.size(), stdout);
  printed.clear();
}

}  // namespace warpsim
