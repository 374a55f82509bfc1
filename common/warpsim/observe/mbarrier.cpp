#include "warpsim/observe/mbarrier.h"

#include <algorithm>

#include "warpsim/finding_text.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/describe.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/observe/shared_shadow.h"
#include "warpsim/observe/shares.h"

namespace warpsim {

namespace {

// What the lanes know of what another lane of their warp did.
uint32_t known_of_lane(const Warp& w, uint32_t lanes, uint32_t of) {
  uint32_t known = w.sync_stamp;
  if (w.lanes == nullptr) return known;
  for_each_lane(lanes,
                [&](int lane) { known = std::max(known, w.lanes->stamp[size_t(lane)][of]); });
  return known;
}

// Who said last how many bytes the running phase brings.
Party announcer(const Block& block, const Mbarrier& barrier) {
  const Worker& worker = *block.worker;
  const Mbarrier::Announcement& announced = barrier.announced;
  const MemorySite& at = worker.image->sites[announced.site];
  Party party;
  party.block = block.index;
  party.thread = worker.launch->thread_of(announced.warp * kLanes + announced.lane);
  worker.reporter->set_line(&party, at.function, at.instruction);
  return party;
}

}  // namespace

void release(Warp& w, uint32_t lanes, uint64_t work, Knowledge& to) {
  const uint32_t now = w.worker->shared_shadow->warp_sync();
  const uint32_t time = ++w.block->time;
  if (w.known != nullptr) to.merge(*w.known);
  for (size_t x = 0; x < w.known_stamp.size(); ++x) {
    to.time[x] = std::max(to.time[x], w.known_time[x]);
    if (w.known_stamp[x] == 0) continue;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      uint32_t& thread = to.thread[x * kLanes + lane];
      thread = std::max(thread, w.known_stamp[x]);
    }
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t& thread = to.thread[w.index * kLanes + lane];
    thread = std::max(thread, (lanes >> lane & 1) != 0 ? now : known_of_lane(w, lanes, lane));
  }
  to.time[w.index] = time;
  merge_work(to.work, w.progress.known);
  to.work[w.index] = std::max(to.work[w.index], work);
}

void acquire(Warp& w, const Knowledge& from) {
  if (w.known == nullptr) w.known = std::make_unique<Knowledge>();
  w.known->merge(from);
  merge_work(w.progress.known, from.work);
  for (const Warp& other : w.worker->warps) {
    const size_t x = other.index;
    w.known_time[x] = std::max(w.known_time[x], w.known->time[x]);
    uint32_t all = UINT32_MAX;
    for_each_lane(other.started, [&](int lane) {
      all = std::min(all, w.known->thread[x * kLanes + size_t(lane)]);
    });
    if (x != w.index) w.known_stamp[x] = std::max(w.known_stamp[x], all);
  }
  w.block->has_partial_order = true;
}

std::string report_phase(Warp& w, uint32_t site, uint32_t lane, uint32_t offset,
                         const Mbarrier* barrier, Cause cause, uint64_t amount, uint64_t limit) {
  Diagnostic facts;
  facts.code = Code::kPhase;
  facts.cause = cause;
  facts.amount = amount;
  facts.limit = limit;
  Diagnostic* d = nullptr;
  if (w.worker->launch->checks.barriers) d = describe_mbarrier(w, site, lane, offset, Code::kPhase);
  if (d == nullptr) return sentence(facts);
  if (barrier != nullptr) d->interval = facts.interval = barrier->phase;
  d->cause = cause;
  d->amount = amount;
  d->limit = limit;
  if (cause == Cause::kTooManyArrivals && barrier != nullptr && barrier->announced.bytes != 0)
    d->other = announcer(w.worker->block, *barrier);
  return sentence(*d);
}

std::string report_bulk(Warp& w, uint32_t site, uint32_t lane, Cause cause, uint64_t amount,
                        uint64_t limit) {
  const MemorySite& at = w.worker->image->sites[site];
  Diagnostic facts;
  facts.code = Code::kMisalignedAccess;
  facts.space = at.space == ptx::Space::kShared ? MemorySpace::kShared : MemorySpace::kGlobal;
  facts.access = AccessKind::kCopy;
  facts.cause = cause;
  facts.amount = amount;
  facts.limit = limit;
  Diagnostic* d = w.worker->reporter->add(facts.code, w, lane, at.function, at.instruction);
  if (d != nullptr) {
    d->cause = cause;
    d->amount = amount;
    d->limit = limit;
    d->space = facts.space;
    d->access = facts.access;
  }
  return sentence(facts);
}

namespace {

// A warp that waits at an mbarrier, and the operation's site.
uint32_t site_of_wait(const Warp& w) {
  return w.mbarrier_wait.at->mbarrier.site;
}

bool waits_at_mbarrier(const Warp& w) {
  return w.state == WarpState::kReady && w.mbarrier_wait.at != nullptr;
}

// A barrier got some of its arrivals, and all warps that have not arrived wait for just that: then
// it is the one at fault, whatever those who have arrived wait for now.
bool has_all_it_gets(const Block& block, const Mbarrier& barrier) {
  if (barrier.pending == 0 || barrier.pending >= barrier.expected) return false;
  return std::ranges::all_of(block.worker->warps, [&](const Warp& w) {
    return (barrier.arrived_warps >> w.index & 1) != 0 || w.state == WarpState::kFinished ||
           (waits_at_mbarrier(w) && w.mbarrier_wait.offset == barrier.offset);
  });
}

}  // namespace

void report_mbarrier_deadlock(Block& block) {
  Worker& worker = *block.worker;
  Warp* first = nullptr;
  const Warp* other = nullptr;  // one that waits elsewhere
  // A barrier that is several phases ahead of those that others wait for has had too many arrivals:
  // its wait is the one to be told.
  Warp* ahead = nullptr;
  uint64_t least = UINT64_MAX, most = 0;
  for (Warp& w : worker.warps) {
    if (!waits_at_mbarrier(w)) continue;
    const Mbarrier* barrier = block.mbarriers.find(w.mbarrier_wait.offset);
    const uint64_t phase = barrier == nullptr ? 0 : uint64_t(barrier->phase);
    least = std::min(least, phase);
    if (ahead == nullptr || phase > most) ahead = &w;
    most = std::max(most, phase);
  }
  constexpr uint64_t kFarAhead = 3;
  if (ahead != nullptr && most >= least + kFarAhead) first = ahead;
  for (Warp& w : worker.warps) {
    if (first != nullptr || !waits_at_mbarrier(w)) continue;
    const Mbarrier* barrier = block.mbarriers.find(w.mbarrier_wait.offset);
    if (barrier != nullptr && has_all_it_gets(block, *barrier)) first = &w;
  }
  for (Warp& w : worker.warps) {
    if (&w == first) continue;
    const bool is_here = waits_at_mbarrier(w);
    if (first == nullptr && is_here) {
      first = &w;
      continue;
    }
    if (first == nullptr || w.state == WarpState::kFinished || other != nullptr) continue;
    if (w.state == WarpState::kAtBarrier ||
        (is_here && w.mbarrier_wait.at != first->mbarrier_wait.at))
      other = &w;
  }
  if (first == nullptr) return;
  const MbarrierWait& wait = first->mbarrier_wait;
  const Mbarrier* barrier = block.mbarriers.find(wait.offset);
  Diagnostic facts;
  facts.code = Code::kDeadlock;
  if (barrier == nullptr || barrier->pending != 0) {
    facts.cause = Cause::kArrivalsLack;
    facts.amount = barrier == nullptr ? 0 : barrier->pending;
    facts.limit = barrier == nullptr ? 0 : barrier->expected;
  } else {
    facts.cause = barrier->bytes >= 0 ? Cause::kBytesLack : Cause::kBytesTooMany;
    facts.amount = uint64_t(barrier->bytes >= 0 ? barrier->bytes : -barrier->bytes);
    facts.limit = uint64_t(barrier->announced.bytes);
  }
  Diagnostic* d =
      describe_mbarrier(*first, site_of_wait(*first), wait.lane, wait.offset, Code::kDeadlock);
  if (d != nullptr) {
    d->cause = facts.cause;
    d->amount = facts.amount;
    d->limit = facts.limit;
    if (barrier != nullptr) {
      d->interval = barrier->phase;
      if (facts.cause != Cause::kArrivalsLack)
        d->shares = shares_of_bytes(worker, *barrier);
      else if (has_all_it_gets(block, *barrier))
        d->shares = shares_of_arrivals(worker, *barrier);
    }
    if (facts.cause != Cause::kArrivalsLack && facts.limit != 0) {
      d->other = announcer(block, *barrier);
    } else if (other != nullptr) {
      const bool at_bar = other->state == WarpState::kAtBarrier;
      const Op* op = at_bar ? other->barrier_op : other->mbarrier_wait.at;
      const uint32_t lane =
          at_bar ? uint32_t(__builtin_ctz(other->mask)) : other->mbarrier_wait.lane;
      d->other.emplace();
      d->other->block = block.index;
      d->other->thread = worker.launch->thread_of(other->index * kLanes + lane);
      const auto function = uint32_t(other->program - worker.image->programs.data());
      worker.reporter->set_line(&*d->other, function, op->instruction);
    }
    facts = *d;
  }
  worker.halt(LaunchStatus::kTimeout, 702, sentence(facts));
}

}  // namespace warpsim
