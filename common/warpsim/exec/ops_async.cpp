// cp.async: data are taken from global memory when the copy is issued and reach shared memory when
// their group has been waited for; until then their destination counts as a write on its way (see
// SharedShadow).
//
// async_copy: a = row of source bytes (0: all), b = predicate of the lanes that read nothing (0:
// none), c = 1: it is negated. Op::CopyTarget and Op::Wait say how many
// instructions of the basic block Warp::instructions has counted ahead of time.

#include "warpsim/exec/access.h"
#include "warpsim/machine/lift.h"
#include "warpsim/trace/recorder.h"

namespace warpsim::ops {

namespace {

struct Copy {
  uint32_t lane, bytes, wanted;
  bool is_first;  // of the lanes that read something
  uint32_t target;
  uint64_t source;
};

void issue(Warp& w, const Op* op, const Copy& copy) {
  Worker& worker = *w.worker;
  const Checks& checks = worker.launch->checks;
  const uint32_t shared_site = op[1].copy_target.shared_site, global_site = op->copy.global_site;
  PendingCopy pending{.lane = copy.lane,
                      .group = w.committed[copy.lane],
                      .shared_offset = copy.target,
                      .bytes = copy.bytes,
                      .site = shared_site,
                      .counted_at = global_site,
                      .is_counted = copy.is_first,
                      .started = w.instructions - op[1].copy_target.ahead,
                      .traced = -1,
                      .data = {}};
  const bool target_good =
      copy.target % copy.bytes == 0 && access::find_shared(w, shared_site, copy.target, copy.bytes);
  if (!target_good)
    access::report_bad_lane(w, shared_site, ptx::Space::kShared, copy.lane, copy.target);
  if (copy.wanted != 0) {
    const Pattern& p = access::lane_pattern(w, copy.lane, copy.bytes, ptx::Space::kGlobal);
    SiteState& s = worker.sites[global_site];
    if (copy.source % copy.bytes != 0 ||
        !access::find_global(w, global_site, copy.source, copy.wanted)) {
      access::report_bad_lane(w, global_site, ptx::Space::kGlobal, copy.lane, copy.source);
    } else {
      const uint64_t offset = copy.source - s.base;
      const bool whole = copy.wanted == copy.bytes;
      if (whole && checks.initialised && s.record->initialised != nullptr &&
          !access::all_initialised(*s.record, offset, p)) {
        access::report_uninitialised(w, global_site, *s.record, offset, p);
      }
      if (whole && s.shadow != nullptr) s.shadow->load(w, global_site, offset, p);
      std::memcpy(pending.data, s.data + offset, copy.wanted);
    }
  }
  if (!target_good) return;
  if (checks.initialised || checks.races)
    worker.shared_shadow->async_issue(w, shared_site, copy.lane, copy.target, copy.bytes);
  if (worker.recorder != nullptr) {
    pending.traced = worker.recorder->copy(
        w, {copy.lane, copy.bytes, copy.wanted, copy.target, copy.source, pending.data});
  }
  w.pending.push_back(pending);
}

// Counts a request by the lanes of `access`, which read something: there is none if none does. The
// time model hears of every instruction.
void count(Warp& w, uint32_t site, const WarpAccess& access,
           const std::array<uint32_t, kLanes>& target, const std::array<uint32_t, kLanes>& wanted) {
  Worker& worker = *w.worker;
  SiteState& s = worker.sites[site];
  ++s.async_requests;
  if (worker.tracer != nullptr) access::trace_global(w, site, access);
  if (access.mask == 0) return;
  for_each_lane(access.mask, [&](int lane) { s.async_bytes += wanted[size_t(lane)]; });
  ++s.requests;
  s.sectors += worker.image->sites[site].past_l1 ? async_sectors(access, target) : sectors(access);
  if (worker.rules.traffic != nullptr) s.add(worker.rules.traffic(access));
}

// Lets the copies for which done(copy) holds arrive.
template <class Done>
void arrive(Warp& w, const Op* op, Done done) {
  Worker& worker = *w.worker;
  const uint64_t now = w.instructions - op->wait.ahead;
  const Checks& checks = worker.launch->checks;
  size_t kept = 0;
  for (size_t i = 0; i < w.pending.size(); ++i) {
    const PendingCopy& copy = w.pending[i];
    if (!done(copy)) {
      if (kept != i) w.pending[kept] = copy;
      ++kept;
      continue;
    }
    if (copy.is_counted) worker.sites[copy.counted_at].async_distance += now - copy.started;
    std::memcpy(worker.shared + copy.shared_offset, copy.data, copy.bytes);
    if (worker.recorder != nullptr) worker.recorder->arrived(w, copy.traced);
    if (checks.initialised || checks.races)
      worker.shared_shadow->async_arrive(w, copy.lane, copy.shared_offset, copy.bytes);
  }
  w.pending.resize(kept);
}

}  // namespace

const Op* async_copy(Warp& w, const Op* op) {
  const Op::Copy& copy = op->copy;
  const Op::CopyTarget& to = op[1].copy_target;
  const uint32_t bytes = copy.bytes;
  WarpAccess access{0, bytes, {}};
  std::array<uint32_t, kLanes> target, wanted;
  const uint32_t ignored = op->b == 0 ? 0 : op->c != 0 ? ~predicate(w, op->b) : predicate(w, op->b);
  for_each_lane(w.mask, [&](int lane) {
    target[size_t(lane)] = uint32_t(access::lane_address(w, to.shared, to.shared_offset, lane));
    wanted[size_t(lane)] = op->a == 0 ? bytes : std::min(bytes, row<uint32_t>(w, op->a)[lane]);
    if (ignored >> lane & 1) wanted[size_t(lane)] = 0;
    access.address[size_t(lane)] = access::lane_address(w, copy.global, copy.global_offset, lane);
    if (wanted[size_t(lane)] != 0) access.mask |= 1u << lane;
  });
  count(w, copy.global_site, access, target, wanted);
  for_each_lane(w.mask, [&](int lane) {
    const auto i = size_t(lane);
    const bool is_first = access.mask != 0 && lane == __builtin_ctz(access.mask);
    issue(w, op, {uint32_t(lane), bytes, wanted[i], is_first, target[i], access.address[i]});
  });
  return op + 2;
}

const Op* async_commit(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) { ++w.committed[lane]; });
  if (w.worker->recorder != nullptr) w.worker->recorder->commit(w);
  return op + 1;
}

const Op* async_wait_group(Warp& w, const Op* op) {
  const uint64_t open = op->wait.open;
  arrive(w, op, [&](const PendingCopy& c) {
    return (w.mask >> c.lane & 1) && c.group + open < w.committed[c.lane];
  });
  return op + 1;
}

const Op* async_wait_all(Warp& w, const Op* op) {
  arrive(w, op, [&](const PendingCopy& c) { return (w.mask >> c.lane & 1) != 0; });
  return op + 1;
}

}  // namespace warpsim::ops
