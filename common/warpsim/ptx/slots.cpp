// Registers to storage slots: liveness per basic block, then a linear scan over the hulls of the
// lifetimes.

#include <algorithm>
#include <queue>

#include "warpsim/ptx/control_flow.h"
#include "warpsim/ptx/flow.h"

namespace warpsim::ptx {

namespace {

using Bits = std::vector<uint64_t>;

bool get(const Bits& bits, int32_t n) {
  return bits[n / 64] >> (n % 64) & 1;
}
void set(Bits* bits, int32_t n) {
  (*bits)[n / 64] |= uint64_t{1} << (n % 64);
}

// live_in = reads before writes | (live_out & ~killed). A guarded write may not happen: it kills
// nothing.
struct BlockSets {
  Bits reads, kills, live_in, live_out;
};

std::vector<BlockSets> block_liveness(const Function& function, const std::vector<Block>& blocks) {
  size_t words = function.registers.size() / 64 + 1;
  std::vector<BlockSets> sets(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    BlockSets& s = sets[b];
    s.reads.assign(words, 0);
    s.kills = s.live_in = s.live_out = s.reads;
    for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      const Instruction& instruction = function.code[i];
      visit_reads(instruction, [&](int32_t r) {
        if (!get(s.kills, r)) set(&s.reads, r);
      });
      if (instruction.guard >= 0) continue;
      visit_writes(instruction, [&](int32_t r) { set(&s.kills, r); });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;) {
      BlockSets& s = sets[b];
      for (uint32_t next : blocks[b].successors) {
        for (size_t w = 0; w < words; ++w) s.live_out[w] |= sets[next].live_in[w];
      }
      for (size_t w = 0; w < words; ++w) {
        uint64_t in = s.reads[w] | (s.live_out[w] & ~s.kills[w]);
        changed |= in != s.live_in[w];
        s.live_in[w] = in;
      }
    }
  }
  return sets;
}

// The instructions from the first to the last at which a register holds or receives a value that
// matters. Both ends belong to it, so that a destination never shares a slot with a source of its
// own instruction: shuffles read other lanes' sources.
struct Lifetime {
  uint32_t first = UINT32_MAX, last = 0;
  void include(uint32_t instruction) {
    first = std::min(first, instruction);
    last = std::max(last, instruction);
  }
};

std::vector<Lifetime> lifetimes(const Function& function, const std::vector<Block>& blocks) {
  std::vector<Lifetime> result(function.registers.size());
  std::vector<BlockSets> sets = block_liveness(function, blocks);
  auto include_all = [&](const Bits& bits, uint32_t instruction) {
    for (size_t w = 0; w < bits.size(); ++w) {
      for (uint64_t rest = bits[w]; rest; rest &= rest - 1) {
        result[w * 64 + __builtin_ctzll(rest)].include(instruction);
      }
    }
  };
  for (size_t b = 0; b < blocks.size(); ++b) {
    include_all(sets[b].live_in, blocks[b].begin);
    include_all(sets[b].live_out, blocks[b].end - 1);
    for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      auto touch = [&](int32_t r) { result[r].include(i); };
      visit_reads(function.code[i], touch);
      visit_writes(function.code[i], touch);
    }
  }
  return result;
}

Slots::Kind kind_of(Type type) {
  if (type == Type::kPred) return Slots::Kind::kPredicate;
  return size_bytes(type) > 4 ? Slots::Kind::k64 : Slots::Kind::k32;
}

// Hands out the slots of one kind, the lowest free one first.
class Pool {
 public:
  int32_t take(uint32_t first, uint32_t last) {
    while (!busy_.empty() && busy_.top().first < first) {
      free_.push(busy_.top().second);
      busy_.pop();
    }
    int32_t slot = static_cast<int32_t>(count_);
    if (free_.empty()) {
      ++count_;
    } else {
      slot = free_.top();
      free_.pop();
    }
    busy_.emplace(last, slot);
    return slot;
  }
  uint32_t count() const { return count_; }

 private:
  using Busy = std::pair<uint32_t, int32_t>;  // last instruction, slot
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> free_;
  uint32_t count_ = 0;
};

}  // namespace

std::vector<int32_t> read_before_written(const Function& function) {
  std::vector<int32_t> registers;
  if (function.code.empty()) return registers;
  const auto sets = block_liveness(function, build_blocks(function, find_leaders(function)));
  for (size_t r = 0; r < function.registers.size(); ++r) {
    if (get(sets[0].live_in, int32_t(r))) registers.push_back(int32_t(r));
  }
  return registers;
}

Slots assign_slots(const Function& function, const Flow& flow) {
  size_t count = function.registers.size();
  Slots slots;
  slots.slot.assign(count, 0);
  slots.kind.resize(count);
  for (size_t r = 0; r < count; ++r) slots.kind[r] = kind_of(function.registers[r].type);
  if (function.code.empty()) return slots;

  std::vector<Lifetime> life = lifetimes(function, build_blocks(function, flow.leader));
  std::vector<uint32_t> order(count);
  for (uint32_t r = 0; r < count; ++r) order[r] = r;
  std::ranges::stable_sort(order, {}, [&](uint32_t r) { return life[r].first; });
  Pool pools[3];
  for (uint32_t r : order) {
    slots.slot[r] = pools[static_cast<int>(slots.kind[r])].take(life[r].first, life[r].last);
  }
  slots.predicate_count = pools[0].count();
  slots.count_32 = pools[1].count();
  slots.count_64 = pools[2].count();
  return slots;
}

}  // namespace warpsim::ptx
