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
};

bool overlaps(const RowUse::Row& row, uint32_t begin, uint32_t end) {
  return row.offset < end && begin < row.offset + (row.wide ? kRow64Bytes : kRow32Bytes);
}

// A barrier that gives a result writes rows when it is complete, whoever completes it.
bool writes_any(const Op& op, const Meaning& meaning, const RowUse& use) {
  if (meaning.action == Action::kBarrier) return op.barrier.mode != ptx::BarMode::kSync;
  return use.writes_all;
}

}  // namespace

// Of a window whose rows are written in its own basic block the bit would be cleared each time. A
// kernel's frame is always at the same place; those of other functions are not.
Settled find_settled(const Image& image, const Program& program, const Windows& windows,
                     bool is_kernel) {
  const std::vector<Op>& ops = program.ops;
  Settled found;
  found.of_window.assign(windows.list.size(), 0);
  found.cleared.assign(ops.size(), 0);
  if (!is_kernel) return found;
  std::vector<uint32_t> block_of(ops.size(), 0);
  std::vector<RowUse> uses(ops.size());
  uint32_t block = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const Meaning& meaning = meaning_of(ops[i]);
    block += meaning.action == Action::kEnter;
    block_of[i] = block;
    uses[i] = row_use(image, ops[i], meaning);
    if (meaning.action == Action::kGuard) uses[i].writes_all = false;  // what follows says it
    if (writes_any(ops[i], meaning, uses[i])) found.cleared[i] = kEvery;
  }
  std::vector<SettledRow> rows;
  uint32_t next = 1;
  for (size_t n = 0; n < windows.list.size() && next != 0; ++n) {
    const Window& window = windows.list[n];
    if (!window.memo.has_gate) continue;
    std::vector<SettledRow> mine;
    for (const Window::Group& g : window.groups) {
      const uint32_t bytes = g.row.wide ? kRow64Bytes : kRow32Bytes;
      if (g.is_shared) mine.push_back({g.row.row, g.row.row + bytes, next});
    }
    const size_t start = size_t(window.start - ops.data());
    bool moves = mine.empty();
    size_t i = start;
    while (i > 0 && block_of[i - 1] == block_of[start]) --i;
    for (; i < ops.size() && block_of[i] == block_of[start]; ++i) {
      for (const RowUse::Row& written : uses[i].writes) {
        for (const SettledRow& row : mine) moves |= overlaps(written, row.begin, row.end);
      }
    }
    if (moves) continue;
    found.of_window[n] = next;
    rows.insert(rows.end(), mine.begin(), mine.end());
    next <<= 1;
  }
  if (planted == Planted::kSettled) return found;
  for (size_t i = 0; i < ops.size(); ++i) {
    for (const RowUse::Row& written : uses[i].writes) {
      for (const SettledRow& row : rows) {
        if (overlaps(written, row.begin, row.end)) found.cleared[i] |= row.bit;
      }
    }
  }
  // A guard's handler carries out what it governs.
  for (size_t i = 0; i < ops.size(); ++i) {
    if (meaning_of(ops[i]).action != Action::kGuard) continue;
    for (size_t k = 1; k <= ops[i].guard.operations; ++k) found.cleared[i] |= found.cleared[i + k];
  }
  for (uint32_t& bits : found.cleared) bits &= next - 1;
  return found;
}

}  // namespace warpsim::jit
