// Shuffles, votes, matches, reductions and barriers: what happens when all who must be there have
// come.

#include <algorithm>

#include "tests/oracle/machine.h"

namespace oracle {

using namespace warpsim::ptx;

namespace {

bool is_barrier(const Thread& t) {
  return t.waiting && t.waiting->op == Opcode::kBar;
}

// The member mask is the last operand; the old forms without one mean the whole warp.
uint64_t member_mask(const Thread& t) {
  const Instruction& i = *t.waiting;
  bool without =
      (i.op == Opcode::kShfl && i.src.size() == 3) || (i.op == Opcode::kVote && i.src.size() == 1);
  return without ? UINT32_MAX : cut(t.operands.back(), 4);
}

// shfl by the ISA's own pseudocode: the lane to read and whether it is in range.
int source_lane(const Instruction& i, int lane, uint64_t b, uint64_t c, bool* in_range) {
  int bval = static_cast<int>(b & 31), cval = static_cast<int>(c & 31),
      mask = static_cast<int>(c >> 8 & 31);
  int max_lane = (lane & mask) | (cval & ~mask), min_lane = lane & mask, j = 0;
  switch (i.shfl) {
    case ShflMode::kUp:
      j = lane - bval;
      *in_range = j >= max_lane;
      break;
    case ShflMode::kDown:
      j = lane + bval;
      *in_range = j <= max_lane;
      break;
    case ShflMode::kBfly:
      j = lane ^ bval;
      *in_range = j <= max_lane;
      break;
    default:
      j = min_lane | (bval & ~mask);
      *in_range = j <= max_lane;
      break;
  }
  return *in_range ? j : lane;
}

uint64_t reduce(const Instruction& i, const std::vector<Thread*>& group) {
  Instruction step = i;
  uint64_t result = group[0]->operands[0];
  for (size_t n = 1; n < group.size(); ++n)
    result = atomic_result(step, result, {group[n]->operands[0]});
  return result;
}

}  // namespace

void Block::resume(Thread* thread, size_t destination, uint64_t bits) {
  const Instruction& i = *thread->waiting;
  if (destination < i.dst.size()) put(&thread->frames.back(), i.dst[destination], bits);
}

bool Block::release_warps() {
  bool progress = false;
  for (uint32_t first = 0; first < threads_.size(); first += 32) {
    for (uint32_t lane = 0; lane < 32 && first + lane < threads_.size(); ++lane) {
      progress |= release_group(first, lane);
    }
  }
  return progress;
}

// The group of `lane` goes on if all its members wait at the same instruction with the same mask.
bool Block::release_group(uint32_t first, uint32_t lane) {
  Thread& leader = threads_[first + lane];
  if (!leader.waiting || is_barrier(leader)) return false;
  uint64_t mask = member_mask(leader);
  if (!(mask >> lane & 1)) throw Undefined("a lane is not in its own member mask");
  std::vector<Thread*> group;
  for (uint32_t n = 0; n < 32 && first + n < threads_.size(); ++n) {
    if (!(mask >> n & 1)) continue;
    Thread& t = threads_[first + n];
    if (t.done) throw Undefined("a lane that has ended is named in a member mask");
    if (t.waiting != leader.waiting || member_mask(t) != mask) return false;
    group.push_back(&t);
  }
  exchange(group, first);
  for (Thread* t : group) {
    t->waiting = nullptr;
    t->operands.clear();
  }
  return true;
}

void Block::exchange(const std::vector<Thread*>& group, uint32_t first) {
  const Instruction& i = *group[0]->waiting;
  uint64_t mask = 0, ballot = 0;
  for (Thread* t : group) {
    mask |= uint64_t{1} << (t->number - first);
    ballot |= (t->operands[0] & 1) << (t->number - first);
  }
  for (Thread* t : group) {
    int lane = static_cast<int>(t->number - first);
    switch (i.op) {
      case Opcode::kShfl: {
        bool in_range = false;
        int from = source_lane(i, lane, t->operands[1], t->operands[2], &in_range);
        if (!(mask >> from & 1)) throw Undefined("a shuffle reads a lane outside of its mask");
        resume(t, 0, threads_[first + static_cast<uint32_t>(from)].operands[0]);
        resume(t, 1, in_range);
        break;
      }
      case Opcode::kVote: {
        bool all = ballot == mask, any = ballot != 0;
        uint64_t result = i.vote == VoteMode::kBallot ? ballot
                          : i.vote == VoteMode::kAll  ? all
                          : i.vote == VoteMode::kAny  ? any
                                                      : all || !any;
        resume(t, 0, result);
        break;
      }
      case Opcode::kMatch: {
        uint64_t same = 0;
        uint32_t bytes = size_bytes(i.type);
        for (Thread* other : group) {
          bool equal = cut(other->operands[0], bytes) == cut(t->operands[0], bytes);
          same |= uint64_t{equal} << (other->number - first);
        }
        resume(t, 0, i.match_all ? (same == mask ? mask : 0) : same);
        resume(t, 1, same == mask);
        break;
      }
      case Opcode::kRedux:
        resume(t, 0, reduce(i, group));
        break;
      default:
        break;  // bar.warp.sync
    }
  }
}

bool Block::release_barriers() {
  std::map<uint64_t, std::vector<Thread*>> waiting;  // by barrier
  size_t alive = 0;
  for (Thread& t : threads_) {
    alive += !t.done;
    if (is_barrier(t)) waiting[t.operands[0]].push_back(&t);
  }
  bool progress = false;
  for (auto& [barrier, group] : waiting) {
    const Instruction& i = *group[0]->waiting;
    bool reduces = i.bar != BarMode::kSync;
    bool counted = group[0]->operands.size() > (reduces ? 2u : 1u);
    uint64_t expected = counted ? group[0]->operands[1] : alive;
    if (group.size() + arrived_[barrier] < expected) continue;
    uint64_t yes = 0;
    for (Thread* t : group) yes += t->operands.back() & 1;
    for (Thread* t : group) {
      if (i.bar == BarMode::kRedPopc) resume(t, 0, yes);
      if (i.bar == BarMode::kRedAnd) resume(t, 0, yes == group.size());
      if (i.bar == BarMode::kRedOr) resume(t, 0, yes > 0);
      t->waiting = nullptr;
      t->operands.clear();
    }
    arrived_[barrier] = 0;
    progress = true;
  }
  return progress;
}

}  // namespace oracle
