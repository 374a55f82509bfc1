// mbarrier: a barrier of eight bytes in shared memory. A phase is complete when all arrivals that
// it expects have come, and all bytes that were announced; then the next one begins.
//
// Op::Mbarrier. Arrivals and the like: a = row of the number (of arrivals or bytes; 0: one
// arrival), d = row of the state (64 bits; 0: nobody wants it). Waits: a = row of the state (64
// bits) or the parity, d = predicate.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "warpsim/exec/access.h"
#include "warpsim/finding_text.h"
#include "warpsim/observe/mbarrier.h"
#include "warpsim/observe/meeting.h"

namespace warpsim::ops {

namespace {

using ptx::MbarrierOp;

constexpr int kLaunchFailed = 719;
// So often a wait in vain keeps its warp; then the kernel hears that the phase is not complete.
constexpr uint32_t kTries = 8;

// A kernel that may give up waiting is told so often, at each place and in each block, that the
// phase is not complete, as it would be if data came late.
constexpr uint32_t kHeldLooks = 1000;

struct Place {
  bool is_good = false;
  uint32_t offset = 0;  // in the shared window
};

Place place_of(Warp& w, const Op* op, int lane) {
  const uint32_t site = op->mbarrier.site;
  const uint64_t address = access::lane_address(w, op->mbarrier.address, op->mbarrier.offset, lane);
  const auto offset = uint32_t(address);
  const bool is_generic = w.worker->image->sites[site].space == ptx::Space::kGeneric;
  const bool is_foreign =
      is_generic ? space_of(address) != ptx::Space::kShared : access::is_foreign_to_shared(address);
  if (is_foreign && is_generic) {
    access::report_bad_lane(w, site, ptx::Space::kGlobal, uint32_t(lane), address);
    w.worker->stop(LaunchStatus::kFault, 700, "an mbarrier was not in shared memory");
  } else if (is_foreign || offset % 8 != 0 || !access::find_shared(w, site, offset, 8)) {
    access::report_bad_lane(w, site, ptx::Space::kShared, uint32_t(lane), address);
  } else {
    return {true, offset};
  }
  return {};
}

// Misuse that leaves a barrier with which nobody can go on.
void give_up(Warp& w, const Op* op, int lane, uint32_t offset, const Mbarrier* barrier, Cause cause,
             uint64_t amount = 0, uint64_t limit = 0) {
  w.worker->halt(
      LaunchStatus::kFault, kLaunchFailed,
      report_phase(w, op->mbarrier.site, uint32_t(lane), offset, barrier, cause, amount, limit));
}

// The barrier that the lane names; nullptr: there is none, and the launch ends.
Mbarrier* barrier_of(Warp& w, const Op* op, int lane) {
  const Place place = place_of(w, op, lane);
  if (!place.is_good) return nullptr;
  Mbarrier* barrier = w.block->mbarriers.find(place.offset);
  if (barrier == nullptr || !barrier->valid) {
    const bool was_one = barrier != nullptr;
    give_up(w, op, lane, place.offset, barrier,
            was_one ? Cause::kInvalidated : Cause::kNotInitialised);
    return nullptr;
  }
  uint64_t word = 0;
  std::memcpy(&word, w.worker->shared + place.offset, sizeof word);
  if (word != barrier->word()) {
    give_up(w, op, lane, place.offset, barrier, Cause::kOverwritten);
    return nullptr;
  }
  if (w.worker->launch->checks.races)
    w.worker->shared_shadow->use_mbarrier(w, op->mbarrier.site, uint32_t(lane), place.offset);
  return barrier;
}

void show(Warp& w, const Mbarrier& barrier) {
  const uint64_t word = barrier.word();
  std::memcpy(w.worker->shared + barrier.offset, &word, sizeof word);
}

void complete_if_done(Mbarrier& barrier) {
  if (barrier.pending == 0 && barrier.bytes == 0) barrier.begin_next_phase();
}

void initialise(Warp& w, const Op* op, int lane, uint32_t count) {
  const Place place = place_of(w, op, lane);
  if (!place.is_good) return;
  const uint32_t site = op->mbarrier.site;
  Mbarriers& all = w.block->mbarriers;
  Mbarrier* barrier = all.find(place.offset);
  if (count == 0 || count > Mbarrier::kMostArrivals) {
    return give_up(w, op, lane, place.offset, barrier, Cause::kBadCount, count,
                   Mbarrier::kMostArrivals);
  }
  const bool in_use =
      barrier != nullptr && barrier->valid &&
      (barrier->pending != barrier->expected || barrier->bytes != 0 || !barrier->late.empty());
  if (in_use) {
    report_phase(w, site, uint32_t(lane), place.offset, barrier, Cause::kInitialisedAgain,
                 barrier->expected - barrier->pending, barrier->expected);
  }
  if (barrier == nullptr) barrier = &all.add(place.offset);
  *barrier = {};
  barrier->offset = place.offset;
  barrier->site = site;
  barrier->expected = barrier->pending = count;
  const Checks& checks = w.worker->launch->checks;
  if (checks.initialised || checks.races) {
    const Pattern& p = access::lane_pattern(w, uint32_t(lane), 8, ptx::Space::kShared);
    alignas(16) std::byte values[16 * kLanes];
    const uint64_t word = barrier->word();
    std::memcpy(values + 16 * lane, &word, sizeof word);
    SharedShadow& shadow = *w.worker->shared_shadow;
    if (!shadow.store(w, site, place.offset, p))
      shadow.examine_store(w, site, place.offset, p, values);
  }
  show(w, *barrier);
}

// `count` arrivals of one lane, made at a site of that warp. False: the launch has ended.
bool count_arrivals(Warp& w, const Op* op, int lane, Mbarrier& barrier, uint32_t count,
                    bool no_complete, uint32_t site, uint32_t warp) {
  if (count == 0 || count > Mbarrier::kMostArrivals) {
    give_up(w, op, lane, barrier.offset, &barrier, Cause::kBadCount, count,
            Mbarrier::kMostArrivals);
    return false;
  }
  if (count > barrier.pending) {
    give_up(w, op, lane, barrier.offset, &barrier, Cause::kTooManyArrivals, count, barrier.pending);
    return false;
  }
  barrier.pending -= count;
  barrier.note_arrivals(site, warp, count);
  if (no_complete && barrier.pending == 0 && barrier.bytes == 0) {
    give_up(w, op, lane, barrier.offset, &barrier, Cause::kCompletesPhase);
    return false;
  }
  complete_if_done(barrier);
  return true;
}

uint64_t work_of(const Warp& w, const Op* op) {
  return w.multiply_adds + w.products - op->mbarrier.work_ahead;
}

// What all lanes did comes before the end of the phase, whichever of them brings it about.
void release_all(Warp& w, const Op* op) {
  std::array<uint32_t, kLanes> offset{};
  for_each_lane(w.mask, [&](int lane) {
    offset[size_t(lane)] =
        uint32_t(access::lane_address(w, op->mbarrier.address, op->mbarrier.offset, lane));
  });
  for (uint32_t left = w.mask; left != 0;) {
    const uint32_t at = offset[size_t(__builtin_ctz(left))];
    uint32_t group = 0;
    for_each_lane(left, [&](int lane) { group |= uint32_t(offset[size_t(lane)] == at) << lane; });
    left &= ~group;
    if (Mbarrier* barrier = w.block->mbarriers.find(at))
      release(w, group, work_of(w, op), barrier->arrived);
  }
}

// What the lanes do, one after the other.
void update(Warp& w, const Op* op, int lane, uint32_t number) {
  Mbarrier* barrier = barrier_of(w, op, lane);
  if (barrier == nullptr) return;
  const Op::Mbarrier& what = op->mbarrier;
  const bool arrives = what.mode == MbarrierOp::kArrive || what.mode == MbarrierOp::kDrop;
  if (op->d != 0) row<uint64_t>(w, op->d)[lane] = barrier->word();
  if (what.mode == MbarrierOp::kInval) {
    if (barrier->pending != barrier->expected || barrier->bytes != 0) {
      report_phase(w, what.site, uint32_t(lane), barrier->offset, barrier, Cause::kInvalidatedInUse,
                   barrier->expected - barrier->pending, barrier->expected);
    }
    barrier->valid = false;
    return;
  }
  if (arrives && what.expects && barrier->pending == 0)  // before it hides who announced bytes
    return give_up(w, op, lane, barrier->offset, barrier, Cause::kTooManyArrivals, 1, 0);
  if (what.expects || what.mode == MbarrierOp::kExpectBytes) {
    barrier->bytes += number;
    barrier->announced = {barrier->announced.bytes + number, what.site, w.index, uint32_t(lane)};
  }
  if (what.mode == MbarrierOp::kCompleteBytes) barrier->bytes -= number;
  if (std::abs(barrier->bytes) > Mbarrier::kMostBytes) {
    return give_up(w, op, lane, barrier->offset, barrier, Cause::kTooManyBytes,
                   uint64_t(std::abs(barrier->bytes)), uint64_t(Mbarrier::kMostBytes));
  }
  if (arrives) {
    const uint32_t count = what.expects || op->a == 0 ? 1 : number;
    if (what.mode == MbarrierOp::kDrop) {
      if (count > barrier->expected)
        return give_up(w, op, lane, barrier->offset, barrier, Cause::kTooManyArrivals, count,
                       barrier->expected);
      barrier->expected -= count;
    }
    if (!count_arrivals(w, op, lane, *barrier, count, what.no_complete, what.site, w.index)) return;
  } else {
    complete_if_done(*barrier);
  }
  show(w, *barrier);
}

// What is on its way to the barrier comes: bytes of copies in bulk, and arrivals that wait for
// copies of their lane.
void let_arrive(Warp& w, const Op* op, int lane, Mbarrier& barrier) {
  if (!w.block->bulk.loads.empty()) {
    land_bulk_loads(w, barrier);
    complete_if_done(barrier);
    show(w, barrier);
  }
  while (!barrier.late.empty() && !w.worker->launch->stop) {
    const Mbarrier::LateArrival late = barrier.late.front();
    barrier.late.erase(barrier.late.begin());
    Warp& from = w.worker->warps[late.warp];
    land_copies(from, late.lane, late.up_to);
    barrier.arrived.thread[late.warp * kLanes + late.lane] = w.worker->shared_shadow->warp_sync();
    if (!count_arrivals(w, op, lane, barrier, 1, false, late.site, late.warp)) return;
    show(w, barrier);
  }
}

// Whether the warp stays at a wait that has come to nothing, rather than tell the kernel so.
bool keeps(Warp& w, const Op* op, uint64_t seen, bool* again) {
  auto known = std::find_if(w.waiting.begin(), w.waiting.end(),
                            [&](const Waiting& one) { return one.at == op; });
  if (known == w.waiting.end()) known = w.waiting.insert(known, Waiting{op, ~seen, 0});
  *again = known->seen == seen;
  if (!*again) *known = {op, seen, 0};
  const uint32_t most = op->mbarrier.mode == MbarrierOp::kTryWait ? kTries : 1;
  known->times = known->times < most ? known->times + 1 : 0;
  return known->times != 0;
}

// Whether to say that the phase is not complete, which is not complete yet.
bool is_held(Warp& w, const Op* op) {
  if (!op->mbarrier.may_give_up) return false;
  auto& looks = w.block->looks;
  auto known = std::ranges::find(looks, op, [](const auto& look) { return look.first; });
  if (known == looks.end()) known = looks.insert(known, {op, 0});
  if (known->second >= kHeldLooks) return false;
  ++known->second;
  return true;
}

}  // namespace

const Op* mbarrier(Warp& w, const Op* op) {
  if (op->mbarrier.mode == MbarrierOp::kInit) {
    for_each_lane(w.mask,
                  [&](int lane) { initialise(w, op, lane, row<uint32_t>(w, op->a)[lane]); });
    return op + 1;
  }
  const bool arrives =
      op->mbarrier.mode == MbarrierOp::kArrive || op->mbarrier.mode == MbarrierOp::kDrop;
  if (arrives) release_all(w, op);
  for_each_lane(w.mask, [&](int lane) {
    if (w.worker->launch->stop) return;
    update(w, op, lane, op->a == 0 ? 1 : row<uint32_t>(w, op->a)[lane]);
  });
  return op + 1;
}

const Op* mbarrier_wait(Warp& w, const Op* op) {
  uint32_t complete = 0;
  MbarrierWait wait{op, 0, 0, false};
  uint64_t seen = w.mask;  // nothing that the wait depends on has changed while this is the same
  const Mbarrier* known = nullptr;
  bool is_asked = false, held = false;
  for_each_lane(w.mask, [&](int lane) {
    if (w.worker->launch->stop) return;
    Mbarrier* barrier = barrier_of(w, op, lane);
    if (barrier == nullptr) return;
    const bool parity = op->mbarrier.parity ? (row<uint32_t>(w, op->a)[lane] & 1) != 0
                                            : Mbarrier::parity_of(row<uint64_t>(w, op->a)[lane]);
    if (!barrier->is_complete(parity)) {
      if (!is_asked) held = is_held(w, op);
      is_asked = true;
      if (!held) let_arrive(w, op, lane, *barrier);
    }
    if (barrier->is_complete(parity)) {
      complete |= 1u << lane;
      barrier->passed[w.index] = barrier->phase + 1;
      if (known != barrier) acquire(w, barrier->complete);
      known = barrier;
    } else {
      if (wait.offset == 0) wait.lane = uint32_t(lane), wait.offset = barrier->offset;
      seen = (seen ^ barrier->word() ^ barrier->phase) * 0x9E3779B97F4A7C15u + barrier->offset;
    }
  });
  if (w.worker->launch->stop) return w.stop(op, WarpState::kReady);
  if (complete == 0 && !held && keeps(w, op, seen, &wait.again)) {
    w.mbarrier_wait = wait;
    w.has_waited = true;
    w.waits_for_lock = false;
    w.waits_at = op;
    return w.stop(op, WarpState::kReady);
  }
  if (complete != 0 && meets_others(w, work_of(w, op)))
    ++w.worker->sites[op->mbarrier.site].meetings;
  set_predicate(w, op->d, complete);
  return op + 1;
}

const Op* mbarrier_pending(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) {
    row<uint32_t>(w, op->d)[lane] = Mbarrier::pending_of(row<uint64_t>(w, op->a)[lane]);
  });
  return op + 1;
}

// no_complete: the arrival is one of those that the barrier expects.
const Op* copies_arrive(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) {
    if (w.worker->launch->stop) return;
    Mbarrier* barrier = barrier_of(w, op, lane);
    if (barrier == nullptr) return;
    if (!op->mbarrier.no_complete) ++barrier->pending;
    barrier->late.push_back({w.index, uint32_t(lane), w.copies_issued, op->mbarrier.site});
    show(w, *barrier);
  });
  return op + 1;
}

}  // namespace warpsim::ops
