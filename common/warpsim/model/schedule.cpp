#include "warpsim/model/schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace warpsim {

namespace {

struct Loop {
  int32_t first = 0, end = 0;  // instructions [first, end)
  int32_t parent = -1;
  bool innermost = true;
  double runs = 0;  // of its body by one warp, all entries together
};

class Scheduler {
 public:
  Scheduler(const MachineCode& code, const ptx::Function& function,
            const std::vector<double>& executions)
      : code_(code), function_(function), executions_(executions), left_(executions) {}

  Schedule make() {
    find_blocks();
    find_loops();
    find_reachable();
    count_copies();
    share_out();
    fill_in();
    emit(-1, 0, int32_t(code_.code.size()));
    return std::move(schedule_);
  }

 private:
  using Copies = std::map<int32_t, double>;  // PTX instruction -> how often it stands there

  void find_blocks() {
    const auto size = int32_t(code_.code.size());
    std::set<int32_t> starts = {0};
    for (int32_t i = 0; i < size; ++i) {
      const MachineInstruction& m = code_.code[size_t(i)];
      if (m.work != Work::kBranch && m.work != Work::kExit) continue;
      starts.insert(i + 1);
      if (m.target >= 0) starts.insert(m.target);
    }
    starts.erase(size);
    for (auto at = starts.begin(); at != starts.end(); ++at) {
      const auto next = std::next(at);
      schedule_.blocks.push_back({*at, next == starts.end() ? size : *next, 0});
    }
  }

  int32_t block_at(int32_t instruction) const {
    const auto after =
        std::upper_bound(schedule_.blocks.begin(), schedule_.blocks.end(), instruction,
                         [](int32_t i, const CodeBlock& block) { return i < block.first; });
    return int32_t(after - schedule_.blocks.begin()) - 1;
  }

  // A backward branch closes a loop: from its target to itself.
  void find_loops() {
    std::map<int32_t, int32_t> ends;
    for (size_t i = 0; i < code_.code.size(); ++i) {
      const MachineInstruction& m = code_.code[i];
      if (m.work == Work::kBranch && m.target >= 0 && m.target <= int32_t(i))
        ends[m.target] = std::max(ends[m.target], int32_t(i) + 1);
    }
    for (auto [first, end] : ends) {
      int32_t parent = -1;
      for (size_t l = 0; l < loops_.size(); ++l) {
        if (loops_[l].first <= first && first < loops_[l].end) parent = int32_t(l);
      }
      if (parent >= 0) {
        loops_[size_t(parent)].innermost = false;
        end = std::min(end, loops_[size_t(parent)].end);
      }
      loops_.push_back({first, end, parent, true, 0});
    }
    for (const CodeBlock& block : schedule_.blocks) {
      int32_t inside = -1;
      for (size_t l = 0; l < loops_.size(); ++l) {
        if (loops_[l].first <= block.first && block.first < loops_[l].end) inside = int32_t(l);
      }
      loop_of_.push_back(inside);
    }
  }

  void find_reachable() {
    reachable_.assign(schedule_.blocks.size(), false);
    std::vector<int32_t> open = {0};
    while (!open.empty()) {
      const auto b = size_t(open.back());
      open.pop_back();
      if (reachable_[b]) continue;
      reachable_[b] = true;
      const MachineInstruction& last = code_.code[size_t(schedule_.blocks[b].end) - 1];
      const bool stops = (last.work == Work::kExit && !last.guarded) ||
                         (last.work == Work::kBranch && last.target >= 0 && !last.links);
      if (!stops && b + 1 < reachable_.size()) open.push_back(int32_t(b) + 1);
      if (last.work == Work::kBranch && last.target >= 0) open.push_back(block_at(last.target));
    }
  }

  // As the products that a wmma consists of, whose machine instructions are told apart by nothing.
  bool shares_line(int32_t ptx) const {
    const auto next = size_t(ptx) + 1;
    return next < function_.code.size() &&
           function_.code[next].ptx_line == function_.code[size_t(ptx)].ptx_line;
  }

  // True for a machine instruction that stands for one execution of its PTX instruction: arithmetic
  // and memory accesses, which ptxas neither drops nor repeats, unlike address computations.
  bool is_anchor(const MachineInstruction& m) const {
    if (m.ptx < 0) return false;
    if (code_.from_ptx) return true;
    const ptx::Instruction& p = function_.code[size_t(m.ptx)];
    using ptx::Opcode;
    using ptx::Space;
    switch (m.work) {
      case Work::kFma:
        return p.type == ptx::Type::kF32 && (p.op == Opcode::kFma || p.op == Opcode::kMad ||
                                             p.op == Opcode::kMul || p.op == Opcode::kAdd);
      case Work::kGlobalLoad:
        return p.op == Opcode::kLd && p.space != Space::kShared;
      case Work::kSharedLoad:
        return p.op == Opcode::kLdmatrix || (p.op == Opcode::kLd && p.space == Space::kShared);
      case Work::kTensor:
        return p.op == Opcode::kMma && !shares_line(m.ptx);
      case Work::kGlobalStore:
      case Work::kSharedStore:
        return p.op == Opcode::kSt;
      case Work::kAsyncCopy:
        return p.op == Opcode::kCpAsync;
      case Work::kBarrier:
        return p.op == Opcode::kBar;
      default:
        return false;
    }
  }

  void count_copies() {
    for (size_t b = 0; b < schedule_.blocks.size(); ++b) {
      Copies copies;
      for (int32_t i = schedule_.blocks[b].first; reachable_[b] && i < schedule_.blocks[b].end;
           ++i) {
        const MachineInstruction& m = code_.code[size_t(i)];
        if (is_anchor(m)) copies[m.ptx] += 1;
      }
      copies_.push_back(std::move(copies));
      known_.push_back(false);
    }
  }

  // What an instruction that stands `copies` times in a place runs there, given what is left of it.
  double runs(int32_t ptx, double copies, const Copies& everywhere) const {
    constexpr double kSlack = 1e-6;
    const double share = left_[size_t(ptx)] / copies;
    return everywhere.at(ptx) > copies + 0.5 ? std::floor(share + kSlack) : share;
  }

  static double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
    return values[values.size() / 2];
  }

  // A group of blocks that share their copies: an innermost loop, or one block elsewhere.
  struct Group {
    int32_t loop = -1;
    std::vector<size_t> blocks;
    Copies copies;
    double most() const {
      double most = 0;
      for (const auto& [ptx, count] : copies) most = std::max(most, count);
      return most;
    }
  };

  void share_out() {
    std::map<std::pair<int32_t, size_t>, Group> by_place;
    Copies everywhere;  // not yet shared out
    for (size_t b = 0; b < schedule_.blocks.size(); ++b) {
      if (copies_[b].empty()) continue;
      const int32_t loop = loop_of_[b];
      const bool whole = loop >= 0 && loops_[size_t(loop)].innermost;
      Group& group = by_place[{loop, whole ? 0 : b}];
      group.loop = whole ? loop : -1;
      group.blocks.push_back(b);
      for (const auto& [ptx, count] : copies_[b]) {
        group.copies[ptx] += count;
        everywhere[ptx] += count;
      }
    }
    std::vector<Group> groups;
    for (auto& [place, group] : by_place) groups.push_back(std::move(group));
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
      if ((a.loop >= 0) != (b.loop >= 0)) return a.loop >= 0;
      return a.most() > b.most();
    });
    for (const Group& group : groups) {
      std::map<int32_t, double> used;
      for (size_t b : group.blocks) {
        std::vector<double> counts;
        for (const auto& [ptx, count] : copies_[b])
          counts.push_back(runs(ptx, group.copies.at(ptx), everywhere));
        schedule_.blocks[b].runs = median(counts);
        known_[b] = true;
        for (const auto& [ptx, count] : copies_[b]) used[ptx] += schedule_.blocks[b].runs * count;
        if (group.loop >= 0) {
          double& all = loops_[size_t(group.loop)].runs;
          all = std::max(all, schedule_.blocks[b].runs);
        }
      }
      for (const auto& [ptx, count] : group.copies) {
        left_[size_t(ptx)] = std::max(0.0, left_[size_t(ptx)] - used[ptx]);
        everywhere[ptx] -= count;
      }
    }
  }

  // Blocks without an anchor run as often as the loop around them, at most; loops without one, once
  // per run of the loop around them.
  void fill_in() {
    for (size_t l = loops_.size(); l-- > 0;) {
      for (size_t b = 0; b < schedule_.blocks.size(); ++b) {
        if (loop_of_[b] == int32_t(l) && known_[b])
          loops_[l].runs = std::max(loops_[l].runs, schedule_.blocks[b].runs);
      }
    }
    for (Loop& loop : loops_) {
      if (loop.runs == 0 && !has_anchor(loop))
        loop.runs = loop.parent >= 0 ? loops_[size_t(loop.parent)].runs : 1;
    }
    for (size_t b = 0; b < schedule_.blocks.size(); ++b) {
      if (known_[b] || !reachable_[b]) continue;
      const double around = loop_of_[b] >= 0 ? loops_[size_t(loop_of_[b])].runs : 1;
      schedule_.blocks[b].runs = std::min(around, source_runs(schedule_.blocks[b], around));
    }
  }

  // How often the PTX ran that a block without an anchor comes from. Code that was moved out of a
  // loop runs less often than its PTX, never more.
  double source_runs(const CodeBlock& block, double unknown) const {
    std::vector<double> counts;
    for (int32_t i = block.first; i < block.end; ++i) {
      const MachineInstruction& m = code_.code[size_t(i)];
      if (m.ptx >= 0) counts.push_back(executions_[size_t(m.ptx)]);
    }
    return counts.empty() ? unknown : median(std::move(counts));
  }

  bool has_anchor(const Loop& loop) const {
    for (size_t b = 0; b < schedule_.blocks.size(); ++b) {
      const CodeBlock& block = schedule_.blocks[b];
      if (loop.first <= block.first && block.first < loop.end && !copies_[b].empty()) return true;
    }
    return false;
  }

  // Appends one run of the code [first, end), which is loop `loop`'s body or (-1) the kernel's.
  void emit(int32_t loop, int32_t first, int32_t end) {
    constexpr double kSlack = 1e-6;
    const double body_runs = loop >= 0 ? loops_[size_t(loop)].runs : 1;
    due_.resize(schedule_.blocks.size() + loops_.size(), 0);
    for (int32_t at = first; at < end;) {
      const auto b = size_t(block_at(at));
      int32_t inner = loop_of_[b];
      while (inner >= 0 && loops_[size_t(inner)].parent != loop && inner != loop)
        inner = loops_[size_t(inner)].parent;
      if (inner >= 0 && inner != loop) {
        const Loop& l = loops_[size_t(inner)];
        double& due = due_[schedule_.blocks.size() + size_t(inner)];
        for (due += body_runs > 0 ? l.runs / body_runs : 0; due >= 1 - kSlack; due -= 1)
          emit(inner, l.first, l.end);
        at = l.end;
        continue;
      }
      double& due = due_[b];
      for (due += body_runs > 0 ? schedule_.blocks[b].runs / body_runs : 0; due >= 1 - kSlack;
           due -= 1)
        schedule_.order.push_back(uint32_t(b));
      at = schedule_.blocks[b].end;
    }
  }

  const MachineCode& code_;
  const ptx::Function& function_;
  const std::vector<double>& executions_;
  std::vector<double> left_;  // per PTX instruction: executions not yet shared out
  Schedule schedule_;
  std::vector<Loop> loops_;  // outer before inner
  std::vector<int32_t> loop_of_;
  std::vector<bool> reachable_, known_;
  std::vector<Copies> copies_;
  std::vector<double> due_;
};

}  // namespace

Schedule make_schedule(const MachineCode& code, const ptx::Function& function,
                       const std::vector<double>& executions) {
  return Scheduler(code, function, executions).make();
}

}  // namespace warpsim
