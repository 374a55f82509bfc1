#include "warpsim/jit/liveness.h"

namespace warpsim::jit {

namespace {

using A = Action;

// Operations from `first` on that run under a guard at first - 1.
size_t guarded_count(const Op& guard) {
  return guard.guard.operations;
}

}  // namespace

RowUse row_use(const Image& image, const Op& op, const Meaning& m) {
  RowUse use;
  const int sources = source_rows(m.action);
  if (sources > 0) {
    const uint32_t rows[3] = {op.a, op.b, op.c};
    const bool wide[3] = {m.wide_a, m.wide_b, m.wide_c};
    for (int i = 0; i < sources; ++i) use.reads.push_back({rows[i], wide[i]});
    if (m.action < A::kCompareS32) use.writes.push_back({op.d, m.wide_d});
    return use;
  }
  switch (m.action) {
    case A::kAddress:
      use.reads.push_back({op.a, m.wide_a});
      break;
    case A::kLoad:
    case A::kStore: {
      const MemorySite& site = image.sites[op.access.site];
      const uint32_t rows[4] = {op.d, op.a, op.b, op.c};
      auto& elements = m.action == A::kLoad ? use.writes : use.reads;
      for (size_t i = 0; i < site.elements; ++i)
        elements.push_back({rows[i], site.element_bytes == 8});
      use.reads.push_back({op.access.address.row, op.access.address.wide != 0});
      break;
    }
    case A::kLoadParam:
      use.writes.push_back({op.d, op.param.bytes == 8});
      break;
    case A::kBarrier:
      use.reads.push_back({op.a, false});
      if (op.b != 0) use.reads.push_back({op.b, false});
      use.writes_all = true;  // of a reduction; written by whoever completes the barrier
      break;
    case A::kShuffle:
      for (const uint32_t row : {op.a, op.b, op.c}) use.reads.push_back({row, false});
      if (op.lanes.members != 0) use.reads.push_back({op.lanes.members, false});
      use.writes.push_back({op.d, false});
      break;
    case A::kVote:
      if (op.lanes.members != 0) use.reads.push_back({op.lanes.members, false});
      if (m.vote == ptx::VoteMode::kBallot) use.writes.push_back({op.d, false});
      break;
    case A::kLogicAnd:
    case A::kLogicOr:
    case A::kLogicXor:
    case A::kLogicNot:
    case A::kLogicCopy:
    case A::kCountFma:
    case A::kEnter:
    case A::kBranch:
    case A::kBranchIf:
    case A::kBranchIfNot:
    case A::kExit:
    case A::kReturn:
      break;
    case A::kBranchTable:
      use.reads.push_back({op.a, false});
      break;
    default:
      use.reads_all = use.writes_all = true;
      break;
  }
  return use;
}

Liveness::Liveness(const Image& image, const Program& program, bool is_kernel) {
  const std::vector<Op>& ops = program.ops;
  const size_t count = ops.size();
  std::vector<const Meaning*> meanings(count);
  std::vector<RowUse> uses(count);
  std::vector<bool> guarded(count, false);
  for (size_t i = 0; i < count; ++i) {
    meanings[i] = &meaning_of(ops[i]);
    uses[i] = row_use(image, ops[i], *meanings[i]);
    for (const auto* list : {&uses[i].reads, &uses[i].writes}) {
      for (const RowUse::Row& row : *list) rows_.try_emplace(row.offset, uint32_t(rows_.size()));
    }
    if (meanings[i]->action == A::kGuard) {
      for (size_t k = 1; k <= guarded_count(ops[i]) && i + k < count; ++k) guarded[i + k] = true;
      uses[i].reads_all = uses[i].writes_all = false;
    }
  }
  const size_t words = rows_.size() / 64 + 1;
  const Set none(words, 0), all(words, ~uint64_t{0});
  before_.assign(count, none);
  after_.assign(count, none);
  auto join = [&](Set& set, const Set& other) {
    for (size_t i = 0; i < words; ++i) set[i] |= other[i];
  };
  // Where control may go after operation i, in the same function.
  auto each_successor = [&](size_t i, auto visit) {
    const Op& op = ops[i];
    switch (meanings[i]->action) {
      case A::kBranch:
        visit(size_t(int64_t(i) + op.branch.target));
        return;
      case A::kBranchIf:
      case A::kBranchIfNot:
        visit(size_t(int64_t(i) + op.branch.target));
        break;
      case A::kBranchTable:
        for (size_t k = 1; k <= op.table.targets; ++k)
          visit(size_t(int64_t(i + k) + ops[i + k].branch.target));
        return;
      case A::kReturn:
      case A::kExit:
        return;
      default:
        break;
    }
    if (i + 1 < count) visit(i + 1);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = count; i-- > 0;) {
      Set live = none;
      // The caller copies the results out of the frame.
      if (meanings[i]->action == A::kReturn && !is_kernel) live = all;
      each_successor(i, [&](size_t next) {
        if (next < count) join(live, before_[next]);
      });
      after_[i] = live;
      if (!guarded[i]) {
        for (const RowUse::Row& row : uses[i].writes) {
          const uint32_t bit = rows_.at(row.offset);
          live[bit / 64] &= ~(uint64_t{1} << bit % 64);
        }
      }
      if (uses[i].reads_all) live = all;
      for (const RowUse::Row& row : uses[i].reads) {
        const uint32_t bit = rows_.at(row.offset);
        live[bit / 64] |= uint64_t{1} << bit % 64;
      }
      if (live != before_[i]) {
        before_[i] = std::move(live);
        changed = true;
      }
    }
  }
}

}  // namespace warpsim::jit
