// Operations between the lanes of a warp, Op::Lanes. One instruction may serve several groups of
// lanes, each with a member mask of its own, and every group has its own result. Lanes that the
// mask does not name, or that are not active, take no part: a source lane that is inactive gives
// its register's stale value on a GPU; here it gives the reading lane's own value.

#include <algorithm>

#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"
#include "warpsim/observe/barrier.h"

namespace warpsim::ops {

namespace {

using ptx::AtomOp;
using ptx::ShflMode;
using ptx::VoteMode;

// Looks at the masks, and calls body(lanes) for each group of active lanes with the same one.
template <class Body>
void each_group(Warp& w, const Op* op, Body body) {
  if (op->lanes.members == 0) {
    body(w.mask);
    return;
  }
  const uint32_t* members = row<uint32_t>(w, op->lanes.members);
  check_mask(w, op, members);
  for (uint32_t left = w.mask; left != 0;) {
    const uint32_t mask = members[__builtin_ctz(left)];
    const uint32_t group = left & lanes_with(members, mask);
    body(group);
    left &= ~group;
  }
}

// d = result, e = predicate "source in range" (0: none), a = value, b = lane or distance, c = clamp
// and segment mask.
template <ShflMode kMode>
const Op* shuffle_lanes(Warp& w, const Op* op) {
  const uint32_t *a = row<uint32_t>(w, op->a), *b = row<uint32_t>(w, op->b),
                 *c = row<uint32_t>(w, op->c);
  if (op->lanes.members != 0) check_mask(w, op, row<uint32_t>(w, op->lanes.members));
  uint32_t result[kLanes] = {};
  uint32_t in_range = 0;
  const auto exchange = [&](int lane, uint32_t mask) {
    const int distance = int(b[lane] & 31), clamp = int(c[lane] & 31),
              segment = int(c[lane] >> 8 & 31);
    const int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
    int source = lane;
    bool good = false;
    switch (kMode) {
      case ShflMode::kUp:
        source = lane - distance;
        good = source >= highest;
        break;
      case ShflMode::kDown:
        source = lane + distance;
        good = source <= highest;
        break;
      case ShflMode::kBfly:
        source = lane ^ distance;
        good = source <= highest;
        break;
      default:
        source = lowest | (distance & ~segment);
        good = source <= highest;
        break;
    }
    if (!good) source = lane;
    if (!(mask >> source & 1)) source = lane;
    result[lane] = a[source];
    in_range |= uint32_t(good) << lane;
  };
  uint32_t* d = row<uint32_t>(w, op->d);
  if (w.mask == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) exchange(lane, kAllLanes);
    std::copy_n(result, kLanes, d);
  } else {
    for_each_lane(w.mask, [&](int lane) { exchange(lane, w.mask); });
    for_each_lane(w.mask, [&](int lane) { d[lane] = result[lane]; });
  }
  if (op->e != 0) set_predicate(w, op->e, in_range);
  return op + 1;
}

// a = predicate; d = predicate or, for a ballot, row.
template <VoteMode kMode>
const Op* vote_lanes(Warp& w, const Op* op) {
  const uint32_t holds = op->lanes.negated ? ~predicate(w, op->a) : predicate(w, op->a);
  uint32_t results = 0;  // of the lanes
  each_group(w, op, [&](uint32_t group) {
    const uint32_t yes = holds & group;
    if (kMode == VoteMode::kBallot) {
      for_each_lane(group, [&](int lane) { row<uint32_t>(w, op->d)[lane] = yes; });
      return;
    }
    const bool result = kMode == VoteMode::kAll   ? yes == group
                        : kMode == VoteMode::kAny ? yes != 0
                                                  : yes == 0 || yes == group;
    if (result) results |= group;
  });
  if (kMode != VoteMode::kBallot) set_predicate(w, op->d, results);
  return op + 1;
}

// a = values; d = mask of the lanes with the same value; match.all: d = mask or 0, e = predicate
// (0: none).
template <class T, bool kAll>
const Op* match_lanes(Warp& w, const Op* op) {
  const T* a = row<T>(w, op->a);
  uint32_t result[kLanes] = {};
  uint32_t all_same = 0;
  each_group(w, op, [&](uint32_t group) {
    for_each_lane(group, [&](int lane) {
      uint32_t same = 0;
      for_each_lane(group, [&](int other) { same |= uint32_t(a[other] == a[lane]) << other; });
      const bool all = same == group;
      result[lane] = kAll ? (all ? same : 0) : same;
      all_same |= uint32_t(all) << lane;
    });
  });
  for_each_lane(w.mask, [&](int lane) { row<uint32_t>(w, op->d)[lane] = result[lane]; });
  if (kAll && op->e != 0) set_predicate(w, op->e, all_same);
  return op + 1;
}

template <AtomOp kOp, bool kSigned>
uint32_t combine(uint32_t r, uint32_t x) {
  const bool less = kSigned ? int32_t(x) < int32_t(r) : x < r;
  switch (kOp) {
    case AtomOp::kAdd:
      return r + x;
    case AtomOp::kMin:
      return less ? x : r;
    case AtomOp::kMax:
      return less ? r : x;
    case AtomOp::kAnd:
      return r & x;
    case AtomOp::kOr:
      return r | x;
    default:
      return r ^ x;
  }
}

// a = values.
template <AtomOp kOp, bool kSigned>
const Op* redux_lanes(Warp& w, const Op* op) {
  const uint32_t* a = row<uint32_t>(w, op->a);
  uint32_t result[kLanes] = {};
  each_group(w, op, [&](uint32_t group) {
    const int leader = __builtin_ctz(group);
    uint32_t r = a[leader];
    for_each_lane(group & ~(1u << leader),
                  [&](int lane) { r = combine<kOp, kSigned>(r, a[lane]); });
    for_each_lane(group, [&](int lane) { result[lane] = r; });
  });
  for_each_lane(w.mask, [&](int lane) { row<uint32_t>(w, op->d)[lane] = result[lane]; });
  return op + 1;
}

}  // namespace

Handler shuffle(ShflMode mode) {
  switch (mode) {
    case ShflMode::kUp:
      return &shuffle_lanes<ShflMode::kUp>;
    case ShflMode::kDown:
      return &shuffle_lanes<ShflMode::kDown>;
    case ShflMode::kBfly:
      return &shuffle_lanes<ShflMode::kBfly>;
    case ShflMode::kIdx:
      return &shuffle_lanes<ShflMode::kIdx>;
    default:
      return nullptr;
  }
}

Handler vote(VoteMode mode) {
  switch (mode) {
    case VoteMode::kAll:
      return &vote_lanes<VoteMode::kAll>;
    case VoteMode::kAny:
      return &vote_lanes<VoteMode::kAny>;
    case VoteMode::kUni:
      return &vote_lanes<VoteMode::kUni>;
    case VoteMode::kBallot:
      return &vote_lanes<VoteMode::kBallot>;
    default:
      return nullptr;
  }
}

Handler match(bool all, bool wide) {
  if (wide) return all ? &match_lanes<uint64_t, true> : &match_lanes<uint64_t, false>;
  return all ? &match_lanes<uint32_t, true> : &match_lanes<uint32_t, false>;
}

Handler redux(AtomOp op, bool is_signed) {
  switch (op) {
    case AtomOp::kAdd:
      return &redux_lanes<AtomOp::kAdd, false>;
    case AtomOp::kMin:
      return is_signed ? &redux_lanes<AtomOp::kMin, true> : &redux_lanes<AtomOp::kMin, false>;
    case AtomOp::kMax:
      return is_signed ? &redux_lanes<AtomOp::kMax, true> : &redux_lanes<AtomOp::kMax, false>;
    case AtomOp::kAnd:
      return &redux_lanes<AtomOp::kAnd, false>;
    case AtomOp::kOr:
      return &redux_lanes<AtomOp::kOr, false>;
    case AtomOp::kXor:
      return &redux_lanes<AtomOp::kXor, false>;
    default:
      return nullptr;
  }
}

const Op* elect(Warp& w, const Op* op) {
  uint32_t leaders = 0;
  each_group(w, op, [&](uint32_t group) {
    const int leader = __builtin_ctz(group);
    leaders |= 1u << leader;
    for_each_lane(group, [&](int lane) { row<uint32_t>(w, op->d)[lane] = uint32_t(leader); });
  });
  set_predicate(w, op->e, leaders);
  return op + 1;
}

const Op* active_mask(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) { row<uint32_t>(w, op->d)[lane] = w.mask; });
  return op + 1;
}

}  // namespace warpsim::ops
