#include "warpsim/jit/uniform.h"

#include <algorithm>

#include "warpsim/jit/actions.h"
#include "warpsim/jit/liveness.h"

namespace warpsim::jit {

namespace {

using A = Action;

bool is_one_for_all(ptx::Special special) {
  using S = ptx::Special;
  switch (special) {
    case S::kNtidX:
    case S::kNtidY:
    case S::kNtidZ:
    case S::kCtaidX:
    case S::kCtaidY:
    case S::kCtaidZ:
    case S::kNctaidX:
    case S::kNctaidY:
    case S::kNctaidZ:
      return true;
    default:
      return false;
  }
}

// Operations whose result is the same wherever their source rows are.
bool is_function_of_rows(A action) {
  return source_rows(action) > 0 && action < A::kCompareS32 && action != A::kSelect32 &&
         action != A::kSelect64;
}

struct Write {
  uint32_t times = 0, at = 0;
  bool wide = false, is_guarded = false, is_mixed = false;  // is_mixed: rows lie across each other
};
using Writes = std::unordered_map<uint32_t, Write>;

// All writes of the function by row. False: some operation may write any row.
bool find_writes(const std::vector<Op>& ops, const std::vector<RowUse>& uses, Writes* writes) {
  struct Extent {
    uint32_t begin, end;
  };
  std::vector<Extent> extents;
  uint32_t guarded_until = 0;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const A action = meaning_of(ops[i]).action;
    if (action == A::kGuard) {
      guarded_until = i + 1 + ops[i].guard.operations;
      continue;
    }
    const bool is_plain_barrier =
        action == A::kBarrier && ops[i].barrier.mode == ptx::BarMode::kSync;
    if (uses[i].writes_all && !is_plain_barrier) return false;
    for (const auto* list : {&uses[i].reads, &uses[i].writes}) {
      for (const RowUse::Row& row : *list)
        extents.push_back({row.offset, row.offset + (row.wide ? kRow64Bytes : kRow32Bytes)});
    }
    for (const RowUse::Row& row : uses[i].writes) {
      Write& write = (*writes)[row.offset];
      ++write.times;
      write.at = i;
      write.wide = row.wide;
      write.is_guarded |= i < guarded_until;
    }
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  for (size_t i = 1; i < extents.size(); ++i) {
    const Extent &before = extents[i - 1], &here = extents[i];
    if (here.begin >= before.end || (here.begin == before.begin && here.end == before.end))
      continue;
    for (const uint32_t row : {before.begin, here.begin}) {
      const auto write = writes->find(row);
      if (write != writes->end()) write->second.is_mixed = true;
    }
  }
  return true;
}

}  // namespace

// Of basic blocks: which others every way from the entry leads through.
void Uniform::find_dominators(const Program& program) {
  const std::vector<Op>& ops = program.ops;
  block_of_.assign(ops.size(), 0);
  uint32_t block = 0;
  for (size_t i = 1; i < ops.size(); ++i) {
    block += meaning_of(ops[i]).action == A::kEnter;
    block_of_[i] = block;
  }
  const size_t count = block + 1, words = (count + 63) / 64;
  std::vector<std::vector<uint32_t>> from(count);
  for (size_t i = 0; i < ops.size(); ++i) {
    const A action = meaning_of(ops[i]).action;
    if (action == A::kBranch || action == A::kBranchIf || action == A::kBranchIfNot)
      from[block_of_[size_t(int64_t(i) + ops[i].branch.target)]].push_back(block_of_[i]);
    if (i + 1 < ops.size() && block_of_[i + 1] != block_of_[i] && action != A::kBranch &&
        action != A::kReturn && action != A::kExit)
      from[block_of_[i + 1]].push_back(block_of_[i]);
  }
  dominators_.assign(count, Bits(words, ~uint64_t{0}));
  dominators_[0].assign(words, 0);
  dominators_[0][0] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 1; b < count; ++b) {
      if (from[b].empty()) continue;  // nobody comes here
      Bits both(words, ~uint64_t{0});
      for (const uint32_t f : from[b]) {
        for (size_t w = 0; w < words; ++w) both[w] &= dominators_[f][w];
      }
      both[b / 64] |= uint64_t{1} << b % 64;
      if (both == dominators_[b]) continue;
      dominators_[b] = std::move(both);
      changed = true;
    }
  }
}

Uniform::Uniform(const Image& image, const Program& program) {
  for (const Program::Constant& c : program.constants) rows_[c.row] = {c.wide, true, 0};
  for (const Program::SpecialRow& s : program.specials) {
    if (is_one_for_all(s.special)) rows_[s.row] = {s.wide, true, 0};
  }
  const std::vector<Op>& ops = program.ops;
  std::vector<RowUse> uses(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) uses[i] = row_use(image, ops[i], meaning_of(ops[i]));
  Writes writes;
  if (!find_writes(ops, uses, &writes)) return;
  find_dominators(program);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [row, write] : writes) {
      if (write.times != 1 || write.is_guarded || write.is_mixed || rows_.contains(row)) continue;
      const A action = meaning_of(ops[write.at]).action;
      const auto& sources = uses[write.at].reads;
      const bool is_known =
          action == A::kLoadParam ||
          (is_function_of_rows(action) &&
           std::all_of(sources.begin(), sources.end(), [&](const RowUse::Row& source) {
             return width(write.at, source.offset) != Width::kVaries;
           }));
      if (!is_known) continue;
      rows_[row] = {write.wide, false, write.at};
      changed = true;
    }
  }
}

Uniform::Width Uniform::width(size_t index, uint32_t row) const {
  const auto it = rows_.find(row);
  if (it == rows_.end()) return Width::kVaries;
  const Known& known = it->second;
  const Width found = known.wide ? Width::kWide : Width::kNarrow;
  if (known.is_always) return found;
  const uint32_t here = block_of_[index], there = block_of_[known.written_at];
  if (here == there) return known.written_at < index ? found : Width::kVaries;
  return (dominators_[here][there / 64] >> there % 64 & 1) != 0 ? found : Width::kVaries;
}

}  // namespace warpsim::jit
