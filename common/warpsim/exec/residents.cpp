#include "warpsim/exec/residents.h"

#include <algorithm>

#include "warpsim/exec/block.h"
#include "warpsim/observe/global_shadow.h"

namespace warpsim {

namespace {

// So much is waited in vain, by all blocks together, until the wait counts as one without end: a
// loop may give up by itself after some time.
constexpr uint64_t kInVain = 1'000'000;  // warp instructions
constexpr uint32_t kRounds = 64;
// A block that has used so much may wait in a loop that does other things as well; and so much more
// per running block, until others are let in. Turns are short then.
constexpr uint64_t kLongBlock = 32'000'000, kLongTogether = 2'000'000;  // warp instructions
constexpr int64_t kShortTurn = 1 << 14;

}  // namespace

bool Residents::is_too_long(uint64_t used) const {
  const KernelFacts& facts = *launch_.facts;
  return used > kLongBlock && (facts.has_volatile || facts.has_global_atomics) &&
         launch_.next_block < launch_.block_count;
}

bool Residents::admit() {
  if (running_.size() >= launch_.resident_blocks) return false;
  const uint64_t next = launch_.next_block.fetch_add(1);
  if (next >= launch_.block_count) return false;
  helpers_.push_back(std::make_unique<Runner>(launch_));
  helpers_.back()->worker.patience = Worker::kImpatient;
  helpers_.back()->worker.quantum = running_[0]->worker.quantum;
  helpers_.back()->begin(next);
  running_.push_back(helpers_.back().get());
  return true;
}

void Residents::share(Runner& first, bool is_long) {
  if (BlockOrder* order = launch_.shadows->order()) order->keep_blocks();
  running_ = {&first};
  if (is_long) first.worker.quantum = kShortTurn;
  uint64_t in_vain = 0;
  uint64_t together = is_long ? UINT64_MAX / 2 : 0;  // used since a block has begun or ended
  uint32_t rounds = 0;
  while (!running_.empty() && !launch_.stop) {
    bool useful = false;
    uint64_t used = 0;
    for (size_t i = 0; i < running_.size() && !launch_.stop;) {
      Runner& runner = *running_[i];
      const uint64_t before = runner.worker.used;
      const Turn turn = take_turn(runner.worker);
      used += runner.worker.used - before;
      useful |= turn != Turn::kWaits;
      if (turn == Turn::kEnded) {
        runner.end();
        together = 0;
        const uint64_t next = launch_.stop ? launch_.block_count : launch_.next_block.fetch_add(1);
        if (next < launch_.block_count) {
          runner.begin(next);
        } else {
          running_.erase(running_.begin() + ptrdiff_t(i));
          continue;
        }
      }
      ++i;
    }
    together += used;
    if (useful) in_vain = 0, rounds = 0;
    const bool is_unfair = is_long && together / kLongTogether >= running_.size();
    if ((useful && !is_unfair) || running_.empty()) continue;
    const size_t wanted = running_.size();  // twice as many
    size_t more = 0;
    while (more < wanted && admit()) ++more;
    together = 0;
    if (more != 0 || useful) continue;
    launch_.may_interleave = false;  // no more than have begun
    in_vain += used;
    if (++rounds < kRounds || in_vain < kInVain) continue;
    std::vector<Worker*> waiting;
    for (Runner* runner : running_) waiting.push_back(&runner->worker);
    report_deadlock(waiting);
  }
  for (const auto& helper : helpers_) helper->finish();
}

}  // namespace warpsim
