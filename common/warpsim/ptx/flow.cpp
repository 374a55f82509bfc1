// Immediate post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy, on the
// reversed graph.

#include "warpsim/ptx/flow.h"

#include <algorithm>

#include "warpsim/ptx/control_flow.h"

namespace warpsim::ptx {

namespace {

// Which edges are early returns (see flow.h): from a block that may still reach a collective into
// one that cannot, and that either only returns or is on no other way from there. (The tail behind
// a loop with a barrier is on the other way too.)
class EarlyReturns {
 public:
  EarlyReturns(const Function& function, const std::vector<Block>& blocks) : blocks_(blocks) {
    std::vector<bool> collective(blocks.size());
    std::vector<std::vector<uint32_t>> backward(blocks.size());
    returns_.resize(blocks.size());
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      for (uint32_t s : blocks[b].successors) backward[s].push_back(b);
      const Instruction& first = function.code[blocks[b].begin];
      returns_[b] = (first.op == Opcode::kRet || first.op == Opcode::kExit) && first.guard < 0;
      for (uint32_t i = blocks[b].begin; i < blocks[b].end && !collective[b]; ++i) {
        collective[b] = is_collective(function.code[i].op);
      }
    }
    before_ = closure(
        std::move(collective), [&](uint32_t b) -> const auto& { return backward[b]; });
  }

  bool ignores(uint32_t from, uint32_t to) const {
    if (!before_[from] || before_[to] || blocks_[from].successors.size() < 2) return false;
    return returns_[to] || !on_another_way(from, to);
  }

 private:
  static bool is_collective(Opcode op) {
    return op == Opcode::kBar || op == Opcode::kBarWarp || op == Opcode::kShfl ||
           op == Opcode::kVote || op == Opcode::kMatch || op == Opcode::kRedux ||
           op == Opcode::kCall;
  }

  bool on_another_way(uint32_t from, uint32_t to) const {
    std::vector<bool> others(blocks_.size());
    for (uint32_t s : blocks_[from].successors) {
      if (s != to) others[s] = true;
    }
    return closure(
        std::move(others), [&](uint32_t b) -> const auto& { return blocks_[b].successors; })[to];
  }

  // `seed` and all that can be reached from it.
  template <typename Edges>
  static std::vector<bool> closure(std::vector<bool> seed, Edges edges) {
    std::vector<uint32_t> work;
    for (uint32_t b = 0; b < seed.size(); ++b) {
      if (seed[b]) work.push_back(b);
    }
    while (!work.empty()) {
      uint32_t block = work.back();
      work.pop_back();
      for (uint32_t next : edges(block)) {
        if (!seed[next]) work.push_back(next);
        seed[next] = true;
      }
    }
    return seed;
  }

  const std::vector<Block>& blocks_;
  std::vector<bool> before_;   // a collective can follow
  std::vector<bool> returns_;  // the block only returns
};

class PostDominators {
 public:
  PostDominators(const std::vector<Block>& blocks, const EarlyReturns& early)
      : exit_(static_cast<uint32_t>(blocks.size())), successors_(blocks.size() + 1) {
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      for (uint32_t s : blocks[b].successors) {
        if (!early.ignores(b, s)) successors_[b].push_back(s);
      }
      if (successors_[b].empty()) successors_[b].push_back(exit_);
    }
    order_from_exit();
    iterate();
  }

  // The block in which the paths from `block` meet, exit() if they do so only at the end of the
  // function.
  uint32_t immediate(uint32_t block) const { return dominator_[block]; }
  uint32_t exit() const { return exit_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Numbers blocks in the order in which a depth-first walk from the exit, against the edges,
  // finishes them. Blocks of an endless loop never reach the exit: one block of each such loop gets
  // an edge to it.
  void order_from_exit() {
    predecessors_.assign(exit_ + 1, {});
    for (uint32_t b = 0; b < exit_; ++b) {
      for (uint32_t s : successors_[b]) predecessors_[s].push_back(b);
    }
    number_.assign(exit_ + 1, kNone);
    std::vector<bool> seen(exit_ + 1, false);
    seen[exit_] = true;
    walk(exit_, &seen);
    for (uint32_t b = exit_; b-- > 0;) {
      while (!seen[b]) {
        const uint32_t last = last_of_endless_loop(b);
        successors_[last].push_back(exit_);
        predecessors_[exit_].push_back(last);
        seen[last] = true;
        walk(last, &seen);
      }
    }
    finished_.push_back(exit_);
    for (uint32_t n = 0; n < finished_.size(); ++n) number_[finished_[n]] = n;
  }

  // Of the endless loop that `from` leads to: the block that all its turns end with, so that lanes
  // that part within a turn meet in it. The loop's first block if its turns end in several places.
  uint32_t last_of_endless_loop(uint32_t from) const {
    std::vector<bool> loop = reachable(from);
    for (uint32_t b = 0; b < exit_; ++b) {  // until each block of the loop leads to all others
      if (!loop[b]) continue;
      std::vector<bool> smaller = reachable(b);
      if (smaller == loop) continue;
      loop = std::move(smaller);
      b = UINT32_MAX;
    }
    const auto is_first = [&](uint32_t b) {
      return loop[b] && (b == 0 || std::ranges::any_of(predecessors_[b],
                                                       [&](uint32_t p) { return !loop[p]; }));
    };
    uint32_t first = 0;
    while (first < exit_ && !is_first(first)) ++first;
    if (first == exit_) return from;  // nothing leads into it: dead code
    uint32_t last = kNone;
    for (uint32_t p : predecessors_[first]) {
      if (!loop[p]) continue;
      if (last != kNone) return first;
      last = p;
    }
    return last == kNone ? first : last;
  }

  std::vector<bool> reachable(uint32_t from) const {
    std::vector<bool> found(exit_ + 1);
    std::vector<uint32_t> work{from};
    found[from] = true;
    while (!work.empty()) {
      const uint32_t block = work.back();
      work.pop_back();
      for (uint32_t next : successors_[block]) {
        if (!found[next]) work.push_back(next);
        found[next] = true;
      }
    }
    return found;
  }

  void walk(uint32_t root, std::vector<bool>* seen) {
    std::vector<std::pair<uint32_t, size_t>> stack{{root, 0}};
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      if (next < predecessors_[block].size()) {
        uint32_t p = predecessors_[block][next++];
        if ((*seen)[p]) continue;
        (*seen)[p] = true;
        stack.emplace_back(p, 0);
      } else {
        if (block != exit_) finished_.push_back(block);
        stack.pop_back();
      }
    }
  }

  void iterate() {
    dominator_.assign(exit_ + 1, kNone);
    dominator_[exit_] = exit_;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t n = finished_.size() - 1; n-- > 0;) {  // nearest to the exit first
        uint32_t block = finished_[n], meet = kNone;
        for (uint32_t s : successors_[block]) {
          if (dominator_[s] != kNone) meet = meet == kNone ? s : intersect(s, meet);
        }
        if (meet == dominator_[block]) continue;
        dominator_[block] = meet;
        changed = true;
      }
    }
  }

  uint32_t intersect(uint32_t a, uint32_t b) const {
    while (a != b) {
      while (number_[a] < number_[b]) a = dominator_[a];
      while (number_[b] < number_[a]) b = dominator_[b];
    }
    return a;
  }

  uint32_t exit_;
  std::vector<std::vector<uint32_t>> successors_, predecessors_;
  std::vector<uint32_t> finished_;  // blocks in finishing order, the exit last
  std::vector<uint32_t> number_;    // position in finished_
  std::vector<uint32_t> dominator_;
};

}  // namespace

Flow analyse_flow(const Function& function) {
  Flow flow;
  size_t count = function.code.size();
  flow.leader = find_leaders(function);
  flow.reconvergence.resize(count);
  for (uint32_t i = 0; i < count; ++i) flow.reconvergence[i] = i + 1;
  if (count == 0) return flow;
  std::vector<Block> blocks = build_blocks(function, flow.leader);
  PostDominators dominators(blocks, EarlyReturns(function, blocks));
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    uint32_t last = blocks[b].end - 1;
    const Instruction& branch = function.code[last];
    if (branch.op != Opcode::kBrx && (branch.op != Opcode::kBra || branch.guard < 0)) continue;
    uint32_t meet = dominators.immediate(b);
    flow.reconvergence[last] =
        meet == dominators.exit() ? static_cast<uint32_t>(count) : blocks[meet].begin;
  }
  return flow;
}

}  // namespace warpsim::ptx
