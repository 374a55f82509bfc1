#include "warpsim/jit/settled.h"

#include "warpsim/jit/actions.h"
#include "warpsim/jit/liveness.h"
#include "warpsim/jit/planted.h"

namespace warpsim::jit {

namespace {

constexpr uint32_t kEvery = ~uint32_t{0};

struct SettledRow {
  uint32_t begin, end;  // bytes of the frame
  uint32_t bit;
  bool may_move;  // all lanes together
};

bool overlaps(const RowUse::Row& row, uint32_t begin, uint32_t end) {
  return row.offset < end && begin < row.offset + (row.wide ? kRow64Bytes : kRow32Bytes);
}

// A barrier that gives a result writes rows when it is complete, whoever completes it.
bool writes_any(const Op& op, const Meaning& meaning, const RowUse& use) {
  if (meaning.action == Action::kBarrier) return op.barrier.mode != ptx::BarMode::kSync;
  return use.writes_all;
}

// Adds one number to all lanes of the row.
bool moves_together(const Op& op, size_t index, const Uniform& uniform) {
  const auto is_one = [&](uint32_t row) {
    return uniform.width(index, row) != Uniform::Width::kVaries;
  };
  switch (meaning_of(op).action) {
    case Action::kAdd64:
      return (op.a == op.d && is_one(op.b)) || (op.b == op.d && is_one(op.a));
    case Action::kSub64:
      return op.a == op.d && is_one(op.b);
    default:
      return false;
  }
}

class SettledFinder {
 public:
  SettledFinder(const Image& image, const Program& program, const Uniform& uniform);
  Settled run(const Windows& windows);

 private:
  // The bit of the rows through which the window's accesses to one kind of memory go; 0: none.
  uint32_t bit_of(const Window& window, bool shared);
  bool changes(size_t op, const RowUse::Row& written, const SettledRow& row) const {
    const bool is_whole = written.wide && written.offset == row.begin;
    return overlaps(written, row.begin, row.end) && !(row.may_move && is_whole && moves_[op]);
  }

  const std::vector<Op>& ops_;
  std::vector<RowUse> uses_;
  std::vector<uint32_t> block_of_;
  std::vector<bool> moves_;  // per operation: moves_together, in all lanes
  Settled found_;
  std::vector<SettledRow> rows_;
  uint32_t next_ = 1;
};

SettledFinder::SettledFinder(const Image& image, const Program& program, const Uniform& uniform)
    : ops_(program.ops), uses_(ops_.size()), block_of_(ops_.size(), 0), moves_(ops_.size(), false) {
  found_.cleared.assign(ops_.size(), 0);
  uint32_t block = 0;
  size_t guarded_until = 0;
  for (size_t i = 0; i < ops_.size(); ++i) {
    const Meaning& meaning = meaning_of(ops_[i]);
    block += meaning.action == Action::kEnter;
    block_of_[i] = block;
    uses_[i] = row_use(image, ops_[i], meaning);
    moves_[i] = i >= guarded_until && moves_together(ops_[i], i, uniform);
    if (meaning.action == Action::kGuard) {
      uses_[i].writes_all = false;  // what follows says it
      guarded_until = i + 1 + ops_[i].guard.operations;
    }
    if (writes_any(ops_[i], meaning, uses_[i])) found_.cleared[i] = kEvery;
  }
}

// Where such a row is changed in the window's own basic block the bit would be cleared each time.
uint32_t SettledFinder::bit_of(const Window& window, bool shared) {
  std::vector<SettledRow> mine;
  for (const Window::Group& g : window.groups) {
    if (g.is_shared != shared || (!shared && g.address == nullptr)) continue;
    const uint32_t bytes = g.row.wide ? kRow64Bytes : kRow32Bytes;
    mine.push_back({g.row.row, g.row.row + bytes, next_, !shared});
  }
  if (mine.empty() || next_ == 0) return 0;
  const size_t start = size_t(window.start - ops_.data());
  size_t i = start;
  while (i > 0 && block_of_[i - 1] == block_of_[start]) --i;
  for (; i < ops_.size() && block_of_[i] == block_of_[start]; ++i) {
    for (const RowUse::Row& written : uses_[i].writes) {
      for (const SettledRow& row : mine) {
        if (changes(i, written, row)) return 0;
      }
    }
  }
  rows_.insert(rows_.end(), mine.begin(), mine.end());
  const uint32_t bit = next_;
  next_ <<= 1;
  return bit;
}

Settled SettledFinder::run(const Windows& windows) {
  for (const Window& window : windows.list) {
    Settled::Bits bits;
    if (window.memo.has_gate) bits = {bit_of(window, true), bit_of(window, false)};
    found_.of_window.push_back(bits);
  }
  if (planted == Planted::kSettled) return std::move(found_);
  for (size_t i = 0; i < ops_.size(); ++i) {
    for (const RowUse::Row& written : uses_[i].writes) {
      for (const SettledRow& row : rows_) {
        if (changes(i, written, row)) found_.cleared[i] |= row.bit;
      }
    }
  }
  // A guard's handler carries out what it governs.
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (meaning_of(ops_[i]).action != Action::kGuard) continue;
    for (size_t k = 1; k <= ops_[i].guard.operations; ++k)
      found_.cleared[i] |= found_.cleared[i + k];
  }
  for (uint32_t& bits : found_.cleared) bits &= next_ - 1;
  return std::move(found_);
}

}  // namespace

// A kernel's frame is always at the same place; those of other functions are not.
Settled find_settled(const Image& image, const Program& program, const Windows& windows,
                     const Uniform& uniform, bool is_kernel) {
  if (is_kernel) return SettledFinder(image, program, uniform).run(windows);
  Settled none;
  none.of_window.assign(windows.list.size(), {});
  none.cleared.assign(program.ops.size(), 0);
  return none;
}

}  // namespace warpsim::jit
