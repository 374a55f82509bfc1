#include "warpsim/jit/uniform.h"

#include <algorithm>
#include <vector>

#include "warpsim/jit/actions.h"
#include "warpsim/jit/liveness.h"
#include "warpsim/jit/planted.h"

namespace warpsim::jit {

namespace {

using A = Action;
using Width = Uniform::Width;

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
      return planted == Planted::kOneForAll;
  }
}

// Operations whose result follows from their source rows alone.
bool is_function_of_rows(A action) {
  return source_rows(action) > 0 && action < A::kCompareS32 && action != A::kSelect32 &&
         action != A::kSelect64;
}

// Who has written a row last: an operation, or one of these.
constexpr int32_t kUnknown = -1;  // nobody, several, or in some lanes only
constexpr int32_t kUnseen = -2;   // no way has led here yet

// For every read of a row in the function: who has written it last.
class Writers {
 public:
  Writers(const Image& image, const Program& program) : ops_(program.ops), uses_(ops_.size()) {
    for (size_t i = 0; i < ops_.size(); ++i)
      uses_[i] = row_use(image, ops_[i], meaning_of(ops_[i]));
  }
  // False: some operation may write any row.
  bool find();
  const RowUse& use(size_t index) const { return uses_[index]; }
  // In the order of use().reads.
  const std::vector<int32_t>& of_reads(size_t index) const { return of_reads_[index]; }

 private:
  struct Row {
    uint32_t number = 0;
    bool is_mixed = false;  // it lies across another one
  };
  using State = std::vector<int32_t>;  // by number of the row
  bool number_rows();
  void find_blocks();
  void pass(size_t block, State* state, bool is_last);

  const std::vector<Op>& ops_;
  std::vector<RowUse> uses_;
  std::vector<bool> is_guarded_;
  std::unordered_map<uint32_t, Row> rows_;
  std::vector<uint32_t> block_of_;         // per operation
  std::vector<size_t> first_;              // per block, and the end
  std::vector<std::vector<uint32_t>> to_;  // per block
  std::vector<std::vector<int32_t>> of_reads_;
};

bool Writers::number_rows() {
  struct Extent {
    uint32_t begin, end;
  };
  std::vector<Extent> extents;
  is_guarded_.assign(ops_.size(), false);
  for (size_t i = 0; i < ops_.size(); ++i) {
    const A action = meaning_of(ops_[i]).action;
    if (action == A::kGuard) {
      for (size_t k = 1; k <= ops_[i].guard.operations; ++k) is_guarded_[i + k] = true;
      uses_[i] = {};
      continue;
    }
    const bool is_plain_barrier =
        action == A::kBarrier && ops_[i].barrier.mode == ptx::BarMode::kSync;
    if (uses_[i].writes_all && !is_plain_barrier) return false;
    for (const auto* list : {&uses_[i].reads, &uses_[i].writes}) {
      for (const RowUse::Row& row : *list) {
        rows_.try_emplace(row.offset, Row{uint32_t(rows_.size()), false});
        extents.push_back({row.offset, row.offset + (row.wide ? kRow64Bytes : kRow32Bytes)});
      }
    }
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  for (size_t i = 1; i < extents.size(); ++i) {
    const Extent &before = extents[i - 1], &here = extents[i];
    const bool same = here.begin == before.begin && here.end == before.end;
    if (same || here.begin >= before.end) continue;
    rows_.at(before.begin).is_mixed = rows_.at(here.begin).is_mixed = true;
  }
  return true;
}

void Writers::find_blocks() {
  block_of_.assign(ops_.size(), 0);
  first_ = {0};
  for (size_t i = 1; i < ops_.size(); ++i) {
    if (meaning_of(ops_[i]).action == A::kEnter) first_.push_back(i);
    block_of_[i] = uint32_t(first_.size() - 1);
  }
  to_.resize(first_.size());
  first_.push_back(ops_.size());
  for (size_t i = 0; i < ops_.size(); ++i) {
    const A action = meaning_of(ops_[i]).action;
    if (action == A::kBranch || action == A::kBranchIf || action == A::kBranchIfNot)
      to_[block_of_[i]].push_back(block_of_[size_t(int64_t(i) + ops_[i].branch.target)]);
    const bool ends = action == A::kBranch || action == A::kReturn || action == A::kExit;
    if (i + 1 < ops_.size() && block_of_[i + 1] != block_of_[i] && !ends)
      to_[block_of_[i]].push_back(block_of_[i + 1]);
  }
}

void Writers::pass(size_t block, State* state, bool is_last) {
  for (size_t i = first_[block]; i < first_[block + 1]; ++i) {
    if (is_last) {
      for (const RowUse::Row& row : uses_[i].reads)
        of_reads_[i].push_back((*state)[rows_.at(row.offset).number]);
    }
    for (const RowUse::Row& written : uses_[i].writes) {
      const Row& row = rows_.at(written.offset);
      (*state)[row.number] = row.is_mixed || is_guarded_[i] ? kUnknown : int32_t(i);
    }
  }
}

bool Writers::find() {
  if (!number_rows()) return false;
  find_blocks();
  const size_t blocks = to_.size();
  std::vector<State> before(blocks, State(rows_.size(), kUnseen));
  if (blocks != 0) before[0].assign(rows_.size(), kUnknown);
  std::vector<bool> is_waiting(blocks, false);
  std::vector<uint32_t> waiting;
  if (blocks != 0) waiting.push_back(0);
  while (!waiting.empty()) {
    const uint32_t block = waiting.back();
    waiting.pop_back();
    is_waiting[block] = false;
    State after = before[block];
    pass(block, &after, false);
    for (const uint32_t next : to_[block]) {
      bool changed = false;
      for (size_t r = 0; r < after.size(); ++r) {
        int32_t& there = before[next][r];
        if (there == after[r] || there == kUnknown) continue;
        there = there == kUnseen ? after[r] : kUnknown;
        changed = true;
      }
      if (!changed || is_waiting[next]) continue;
      is_waiting[next] = true;
      waiting.push_back(next);
    }
  }
  of_reads_.resize(ops_.size());
  for (size_t block = 0; block < blocks; ++block) pass(block, &before[block], true);
  return true;
}

}  // namespace

Uniform::Uniform(const Image& image, const Program& program) {
  for (const Program::Constant& c : program.constants)
    always_[c.row] = c.wide ? Width::kWide : Width::kNarrow;
  for (const Program::SpecialRow& s : program.specials) {
    if (is_one_for_all(s.special)) always_[s.row] = s.wide ? Width::kWide : Width::kNarrow;
  }
  Writers writers(image, program);
  if (!writers.find()) return;
  const std::vector<Op>& ops = program.ops;
  std::vector<bool> gives_one(ops.size(), false);  // value to all lanes, and always the same
  auto is_known = [&](size_t i, size_t read) {
    const int32_t writer = writers.of_reads(i)[read];
    return always_.contains(writers.use(i).reads[read].offset) ||
           (writer >= 0 && gives_one[size_t(writer)]);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < ops.size(); ++i) {
      const A action = meaning_of(ops[i]).action;
      bool one = action == A::kLoadParam || is_function_of_rows(action);
      if (!one || gives_one[i]) continue;
      for (size_t k = 0; k < writers.use(i).reads.size(); ++k) one = one && is_known(i, k);
      if (!one) continue;
      gives_one[i] = changed = true;
    }
  }
  // Not of a row that the operation writes as well: its vectors are written one after the other.
  auto writes = [&](size_t i, uint32_t row) {
    const auto& list = writers.use(i).writes;
    return std::any_of(list.begin(), list.end(),
                       [&](const RowUse::Row& written) { return written.offset == row; });
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    for (size_t k = 0; k < writers.of_reads(i).size(); ++k) {
      const RowUse::Row& row = writers.use(i).reads[k];
      if (is_known(i, k) && !writes(i, row.offset))
        read_[key(i, row.offset)] = row.wide ? Width::kWide : Width::kNarrow;
    }
  }
}

Uniform::Width Uniform::width(size_t index, uint32_t row) const {
  const auto always = always_.find(row);
  if (always != always_.end()) return always->second;
  const auto it = read_.find(key(index, row));
  return it == read_.end() ? Width::kVaries : it->second;
}

}  // namespace warpsim::jit
