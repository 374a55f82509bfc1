// cp.async: data are taken from global memory when the copy is issued and reach shared memory when
// their group has been waited for; until then their destination counts as a write on its way (see
// SharedShadow).
//
// async_copy: a = row of source bytes (0: all), b = predicate of the lanes that read nothing (0:
// none), c = 1: it is negated, d and e = address groups of source and target. Op::CopyTarget and
// Op::Wait say how many instructions of the basic block Warp::instructions has counted ahead of
// time.

#include "warpsim/exec/access.h"
#include "warpsim/machine/lift.h"
#include "warpsim/trace/recorder.h"

namespace warpsim::ops {

namespace {

struct Copy {
  uint32_t lane, bytes, wanted;
  bool is_first;     // of the lanes that read something
  uint32_t sectors;  // of the request
  uint32_t request;  // number of its first copy
  uint32_t target;
  uint64_t source;
};

void issue(Warp& w, const Op* op, const Copy& copy) {
  Worker& worker = *w.worker;
  const Checks& checks = worker.launch->checks;
  const uint32_t shared_site = op[1].copy_target.shared_site, global_site = op->copy.global_site;
  PendingCopy pending{.lanes = 1u << copy.lane,
                      .group = w.committed[copy.lane],
                      .number = w.copies_issued++,
                      .shared_offset = copy.target,
                      .bytes = copy.bytes,
                      .counted_at = global_site,
                      .is_counted = copy.is_first,
                      .sectors = copy.sectors,
                      .request = copy.request,
                      .started = w.instructions - op[1].copy_target.ahead,
                      .multiplied = w.multiply_adds - op[1].e};
  std::byte data[16] = {};
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
      std::memcpy(data, s.data + offset, copy.wanted);
    }
  }
  if (!target_good) return;
  if (checks.initialised || checks.races)
    worker.shared_shadow->async_issue(w, shared_site, copy.lane, copy.target, copy.bytes);
  if (worker.recorder != nullptr) {
    pending.traced = worker.recorder->copy(
        w, {copy.lane, copy.bytes, copy.wanted, copy.target, copy.source, data});
  }
  w.pending.push_back(pending);
  w.carried.insert(w.carried.end(), data, data + copy.bytes);
}

// What stores in the place of a copy would lose by conflicts. How the hardware writes what a copy
// brings has not been measured, and rows that are padded by 16 bytes cost a store of 16 bytes two
// wavefronts for eight lanes: that much is no conflict here.
uint64_t lost(const BankCost& cost, uint32_t bytes) {
  const uint32_t least = cost.ideal * (bytes == 16 ? 2u : 1u);
  return cost.wavefronts > least ? cost.wavefronts - least : 0;
}

// Counts a request by the lanes of `access`, which read something: there is none if none does. The
// time model hears of every instruction.
void count(Warp& w, uint32_t site, const WarpAccess& access,
           const std::array<uint32_t, kLanes>& target, const std::array<uint32_t, kLanes>& wanted) {
  Worker& worker = *w.worker;
  SiteState& s = worker.sites[site];
  ++s.async_requests;
  if (worker.tracer != nullptr) access::trace_global(w, site, access);
  WarpAccess written{w.mask, access.bytes, {}, true};
  for_each_lane(w.mask, [&](int lane) { written.address[size_t(lane)] = target[size_t(lane)]; });
  s.async_conflicts += lost(worker.rules.banks(written), access.bytes);
  if (access.mask == 0) return;
  for_each_lane(access.mask, [&](int lane) { s.async_bytes += wanted[size_t(lane)]; });
  ++s.requests;
  s.sectors += worker.image->sites[site].past_l1 ? async_sectors(access, target) : sectors(access);
  if (worker.rules.traffic != nullptr) s.add(worker.rules.traffic(access));
}

// A tile's rows of 16 floats are 8 runs of a warp.
constexpr size_t kPrefetchedRuns = 8;

// Calls body(lane, place of the lane's bytes among those of all lanes of the pattern).
template <uint32_t kBytes, class Body>
void each_place(const Pattern& p, Body body) {
  if (p.mask == kAllLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) body(lane, lane * kBytes);
    return;
  }
  size_t place = 0;
  for_each_lane(p.mask, [&](int lane) {
    body(size_t(lane), place);
    place += kBytes;
  });
}

template <uint32_t kBytes>
void gather(const std::byte* from, const Pattern& p, std::byte* to) {
  each_place<kBytes>(
      p, [&](size_t lane, size_t place) { std::memcpy(to + place, from + p.delta[lane], kBytes); });
}

template <uint32_t kBytes>
void scatter(const std::byte* from, const Pattern& p, std::byte* to) {
  each_place<kBytes>(
      p, [&](size_t lane, size_t place) { std::memcpy(to + p.delta[lane], from + place, kBytes); });
}

// Whether all running lanes copy all their bytes, in the same group of theirs.
bool is_uniform(const Warp& w, const Op* op) {
  if (op->b != 0 && ((op->c != 0 ? ~predicate(w, op->b) : predicate(w, op->b)) & w.mask) != 0)
    return false;
  const uint32_t* wanted = op->a != 0 ? row<uint32_t>(w, op->a) : nullptr;
  const uint32_t group = w.committed[__builtin_ctz(w.mask)];
  uint32_t different = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const bool same =
        w.committed[lane] == group && (wanted == nullptr || wanted[lane] >= op->copy.bytes);
    different |= uint32_t(!same) << lane;
  }
  return (different & w.mask) == 0;
}

// The copies of all running lanes at once. False, and nothing done: there is something to report,
// or might be, or to tell an observer.
bool copy_at_once(Warp& w, const Op* op) {
  Worker& worker = *w.worker;
  const Checks& checks = worker.launch->checks;
  if (worker.recorder != nullptr || worker.tracer != nullptr || worker.rules.traffic != nullptr ||
      !is_uniform(w, op))
    return false;
  const Op::Copy& copy = op->copy;
  const Op::CopyTarget& to = op[1].copy_target;
  const auto bytes = uint8_t(copy.bytes);
  const AddressGroup& source = access::find_group(w, op->d, copy.global, {bytes, 2});
  const AddressGroup& target = access::find_group(
      w, op->e, to.shared,
      {bytes,
       uint8_t(checks.initialised || checks.races ? worker.shared_shadow->granule_shift() : 2)});
  if (source.pattern == nullptr || target.pattern == nullptr ||
      target.pattern == target.scratch.get())
    return false;
  const Pattern &from = *source.pattern, &p = *target.pattern;
  const uint64_t at = source.base + uint64_t(int64_t{copy.global_offset});
  const uint32_t base = uint32_t(target.base) + uint32_t(to.shared_offset);
  if (p.overlapping || !p.aligned || !from.aligned || base % bytes != 0 || at % bytes != 0)
    return false;
  SiteState& s = worker.sites[copy.global_site];
  const uint64_t low = at + uint64_t(int64_t{from.lowest});
  if ((low - s.base >= s.size_bytes || from.span_bytes > s.size_bytes - (low - s.base)) &&
      !access::find_global(w, copy.global_site, low, from.span_bytes))
    return false;
  SiteState& s_to = worker.sites[to.shared_site];
  const uint32_t low_to = base + uint32_t(p.lowest);
  if ((low_to - s_to.base >= s_to.size_bytes ||
       p.span_bytes > s_to.size_bytes - (low_to - s_to.base)) &&
      !access::find_shared(w, to.shared_site, low_to, p.span_bytes))
    return false;
  const uint64_t offset = at - s.base;
  if (checks.initialised && s.record->initialised != nullptr &&
      !access::all_initialised(*s.record, offset, from))
    return false;
  if (checks.initialised || checks.races) {
    if (!worker.shared_shadow->is_untouched(base, p)) return false;
    worker.shared_shadow->async_issue(w, to.shared_site, base, p);
  }

  if (s.shadow != nullptr) s.shadow->load(w, copy.global_site, offset, from);
  const uint64_t sectors_before = s.sectors;
  ++s.async_requests;
  ++s.requests;
  s.async_bytes += uint64_t{bytes} * uint64_t(from.lanes());
  s.async_conflicts += lost(p.banks(bank_kind(true, bytes)), bytes);
  if (worker.image->sites[copy.global_site].past_l1) {
    WarpAccess access{w.mask, bytes, {}};
    std::array<uint32_t, kLanes> targets;
    for_each_lane(w.mask, [&](int lane) {
      access.address[size_t(lane)] = at + uint64_t(int64_t{from.delta[size_t(lane)]});
      targets[size_t(lane)] = base + uint32_t(p.delta[size_t(lane)]);
    });
    s.sectors += async_sectors(access, targets);
  } else {
    s.sectors += from.sectors(at);
  }

  const size_t carried = w.carried.size();
  w.carried.resize(carried + size_t{bytes} * size_t(from.lanes()));
  const auto take = bytes == 16 ? &gather<16> : bytes == 8 ? &gather<8> : &gather<4>;
  take(s.data + offset, from, w.carried.data() + carried);
  access::prefetch_next(source, from, s.data + offset, kPrefetchedRuns);
  w.pending.push_back({.lanes = w.mask,
                       .group = w.committed[__builtin_ctz(w.mask)],
                       .number = w.copies_issued++,
                       .shared_offset = base,
                       .bytes = bytes,
                       .target = &p,
                       .counted_at = copy.global_site,
                       .is_counted = true,
                       .sectors = uint32_t(s.sectors - sectors_before),
                       .request = w.copies_issued - 1,
                       .started = w.instructions - to.ahead,
                       .multiplied = w.multiply_adds - op[1].e});
  return true;
}

// What a warp has executed up to here.
struct Progress {
  uint64_t instructions, multiply_adds;
};

// Of a copy that travels for long no more counts: it makes up for none that is waited for at once.
// Nor does one that reads little make up for one that reads much.
constexpr uint64_t kMostMultiplyAdds = 128;
// With fewer a copy is waited for nearly at once.
constexpr uint64_t kFewMultiplyAdds = 64;

void count_wait(Worker& worker, Progress now, const PendingCopy& copy) {
  SiteState& site = worker.sites[copy.counted_at];
  const uint64_t between = now.multiply_adds - copy.multiplied;
  site.async_distance += now.instructions - copy.started;
  site.async_multiply_adds += std::min(between, kMostMultiplyAdds) * copy.sectors;
  // The first copies of a kernel have nothing to travel behind.
  if (between < kFewMultiplyAdds && copy.multiplied != 0) site.async_idle_sectors += copy.sectors;
}

// Lets lanes' copies arrive, whose data lie at `from`.
void arrive(Warp& w, Progress now, const PendingCopy& copy, const std::byte* from) {
  Worker& worker = *w.worker;
  const bool is_checked = worker.launch->checks.initialised || worker.launch->checks.races;
  if (copy.is_counted) count_wait(worker, now, copy);
  std::byte* to = worker.shared + copy.shared_offset;
  if (copy.target != nullptr) {
    const auto put = copy.bytes == 16 ? &scatter<16> : copy.bytes == 8 ? &scatter<8> : &scatter<4>;
    put(from, *copy.target, to);
    if (is_checked) worker.shared_shadow->async_arrive(w, copy.shared_offset, *copy.target);
    return;
  }
  std::memcpy(to, from, copy.bytes);
  if (worker.recorder != nullptr) worker.recorder->arrived(w, copy.traced);
  const auto lane = uint32_t(__builtin_ctz(copy.lanes));
  if (is_checked) worker.shared_shadow->async_arrive(w, lane, copy.shared_offset, copy.bytes);
}

// What is left of copies while some of them arrive: entries and data move to the front.
class Kept {
 public:
  explicit Kept(Warp& w) : w_(w) {}
  ~Kept() {
    w_.pending.resize(entries_);
    w_.carried.resize(bytes_);
  }
  void keep(const PendingCopy& copy, const std::byte* data, size_t bytes) {
    std::memmove(w_.carried.data() + bytes_, data, bytes);
    w_.pending[entries_++] = copy;
    bytes_ += bytes;
  }

 private:
  Warp& w_;
  size_t entries_ = 0, bytes_ = 0;
};

// Of lanes that asked at once, some wait now and others do not: lane by lane from here on.
void part(Warp& w) {
  std::vector<PendingCopy> parted;
  for (const PendingCopy& copy : w.pending) {
    const uint32_t first = uint32_t(__builtin_ctz(copy.lanes));
    for_each_lane(copy.lanes, [&](int lane) {
      PendingCopy one = copy;
      one.lanes = 1u << lane;
      one.target = nullptr;
      one.is_counted = copy.is_counted && uint32_t(lane) == first;
      if (copy.target != nullptr) one.shared_offset += uint32_t(copy.target->delta[size_t(lane)]);
      parted.push_back(one);
    });
  }
  w.pending = std::move(parted);
}

// A lane that waits holds up its warp: of a request of which some lanes wait now, the wait counts
// now, whichever lane the count stands by.
template <class WaitedFor>
void count_early(Warp& w, Progress now, WaitedFor waited_for) {
  const size_t count = w.pending.size();
  for (size_t first = 0, end = 0; first < count; first = end) {
    PendingCopy* counted = nullptr;
    bool any = false;
    for (end = first; end < count && w.pending[end].request == w.pending[first].request; ++end) {
      PendingCopy& copy = w.pending[end];
      any = any || waited_for(copy) != 0;
      if (copy.is_counted) counted = &copy;
    }
    if (!any || counted == nullptr || waited_for(*counted) != 0) continue;
    count_wait(*w.worker, now, *counted);
    counted->is_counted = false;
  }
}

// Lets the copies arrive of the lanes that waited_for(copy) names.
template <class WaitedFor>
void arrive(Warp& w, Progress now, WaitedFor waited_for) {
  for (const PendingCopy& copy : w.pending) {
    const uint32_t lanes = waited_for(copy);
    if (lanes == 0 || lanes == copy.lanes) continue;
    part(w);
    break;
  }
  if (w.mask != kAllLanes) count_early(w, now, waited_for);
  Kept kept(w);
  const std::byte* data = w.carried.data();
  for (size_t i = 0, count = w.pending.size(); i < count; ++i) {
    const PendingCopy copy = w.pending[i];
    const size_t bytes = copy.bytes * size_t(__builtin_popcount(copy.lanes));
    if (waited_for(copy) != 0)
      arrive(w, now, copy, data);
    else
      kept.keep(copy, data, bytes);
    data += bytes;
  }
}

// Those whose group is not among the `open` newest ones of a waiting lane.
void arrive(Warp& w, const Op* op, uint64_t open) {
  const Progress now{w.instructions - op->wait.ahead,
                     w.multiply_adds - op->wait.multiply_adds_ahead};
  arrive(w, now, [&](const PendingCopy& copy) {
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      lanes |= uint32_t(copy.group + open < w.committed[lane]) << lane;
    return lanes & w.mask & copy.lanes;
  });
}

}  // namespace

void land_copies(Warp& w, uint32_t lane, uint32_t end) {
  arrive(w, Progress{w.instructions, w.multiply_adds},
         [&](const PendingCopy& copy) { return copy.number < end ? copy.lanes & 1u << lane : 0u; });
}

const Op* async_copy(Warp& w, const Op* op) {
  if (copy_at_once(w, op)) return op + 2;
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
  const uint64_t before = w.worker->sites[copy.global_site].sectors;
  count(w, copy.global_site, access, target, wanted);
  const auto sectors = uint32_t(w.worker->sites[copy.global_site].sectors - before);
  const uint32_t request = w.copies_issued;
  for_each_lane(w.mask, [&](int lane) {
    const auto i = size_t(lane);
    const bool is_first = access.mask != 0 && lane == __builtin_ctz(access.mask);
    issue(w, op,
          {uint32_t(lane), bytes, wanted[i], is_first, sectors, request, target[i],
           access.address[i]});
  });
  return op + 2;
}

const Op* async_commit(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) { ++w.committed[lane]; });
  if (w.worker->recorder != nullptr) w.worker->recorder->commit(w);
  return op + 1;
}

const Op* async_wait_group(Warp& w, const Op* op) {
  arrive(w, op, op->wait.open);
  return op + 1;
}

// Copies that were not committed, too.
const Op* async_wait_all(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) { ++w.committed[lane]; });
  arrive(w, op, 0);
  return op + 1;
}

}  // namespace warpsim::ops
