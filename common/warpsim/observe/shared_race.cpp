// The uncommon cases of the shared shadow, one granule at a time: words already touched in this
// interval, words nobody has written, copies on their way, atomics.

#include <algorithm>
#include <cstring>

#include "warpsim/machine/worker.h"
#include "warpsim/observe/describe.h"
#include "warpsim/observe/shared_shadow.h"

namespace warpsim {

namespace {

constexpr int kSiteShift = 10;
constexpr uint32_t kThreadMask = 0x3FF;

uint32_t stamped(uint32_t stamp) {
  return stamp << SharedShadow::kStampShift;
}
uint32_t warp_of(uint32_t record) {
  return record >> 5 & 31;
}
uint32_t lane_of(uint32_t record) {
  return record & 31;
}
uint32_t kind_of(uint32_t record) {
  return record & SharedShadow::kKindMask;
}
bool is_bulk(const Warp& w, uint32_t site) {
  return w.worker->image->sites[site].is_bulk;
}
bool is_pending(uint32_t record) {
  return record >= SharedShadow::kPending;
}

}  // namespace

// Whether the last write of this interval is by another thread than `lane`, with nothing between
// that orders the two.
bool SharedShadow::written_by_other(const Warp& w, uint32_t granule, uint32_t lane) const {
  const uint32_t record = writer_[granule];
  if (is_pending(record)) return warp_of(record) != w.index || lane_of(record) != lane;
  if (kind_of(record) == kCopied) {
    return record >= stamped(interval_) &&
           (w.known == nullptr || record >= stamped(w.known->copies_of(record & kThreadMask)));
  }
  if (record < stamped(interval_)) return false;
  if (warp_of(record) == w.index) return of_other_lane(w, record, lane);
  if (record < stamped(w.known_stamp[warp_of(record)])) return false;
  return w.known == nullptr || record >= stamped(w.known->thread[record & kThreadMask]);
}

// Of two accesses of one warp.
bool SharedShadow::of_other_lane(const Warp& w, uint32_t record, uint32_t lane) const {
  if (record < stamped(w.sync_stamp) || lane_of(record) == lane) return false;
  if (w.known != nullptr && record < stamped(w.known->thread[record & kThreadMask])) return false;
  return w.lanes == nullptr || record >= stamped(w.lanes->stamp[lane][lane_of(record)]);
}

bool SharedShadow::read_by_other(const Warp& w, uint32_t granule, uint32_t lane) const {
  const uint32_t record = reader_[granule];
  if (record < stamped(interval_)) return false;
  for (uint32_t warp = 0; warp < warps_; ++warp) {
    const uint32_t stamp = read_by_warp_[granule * warps_ + warp];
    if (warp != w.index && stamp >= interval_ && stamp >= w.known_stamp[warp] &&
        is_read_by_unknown(w, granule, warp, kLanes))
      return true;
  }
  if (w.known != nullptr && warps_ != 0 && !is_read_by_unknown(w, granule, w.index, lane))
    return false;
  if (kind_of(record) == kSeveralWarps) return warps_ == 0;
  if (warp_of(record) != w.index) return warps_ == 0;
  // Of several lanes that have read, only the last is known.
  if (kind_of(record) == kSeveralLanes) return record >= stamped(w.any_sync_stamp);
  return of_other_lane(w, record, lane);
}

// Whether a lane of `warp`, other than `but`, may have read the granule without the warp w knowing
// that it has.
bool SharedShadow::is_read_by_unknown(const Warp& w, uint32_t granule, uint32_t warp,
                                      uint32_t but) const {
  if (w.known == nullptr || read_lanes_.empty()) return true;
  const size_t at = size_t{granule} * warps_ + warp;
  bool unknown = false;
  for_each_lane(read_lanes_[at], [&](int lane) {
    const bool is_before = read_first_[at] < w.known->thread[warp * kLanes + size_t(lane)];
    unknown |= uint32_t(lane) != but && !is_before;
  });
  return unknown;
}

void SharedShadow::merge_reader(const Read& read, uint32_t granule, uint32_t lane) {
  const uint32_t old = reader_[granule];
  const uint32_t me = read.warp->index << 5 | lane;
  uint32_t record = stamped(read.stamp) | me;
  uint32_t second = me;
  if (old >= stamped(interval_)) {
    const bool same_warp = kind_of(old) != kSeveralWarps && warp_of(old) == read.warp->index;
    if (!same_warp) {
      record |= kSeveralWarps;
    } else if (old >= stamped(read.sync_stamp) && (old & (kKindMask | 31)) != lane) {
      record |= kSeveralLanes;
    }
    second = (old & kThreadMask) != me ? old & kThreadMask : reader_site_[granule] & kThreadMask;
  }
  reader_[granule] = record;
  reader_site_[granule] = read.site << kSiteShift | second;
  if (warps_ != 0) {
    const size_t at = size_t{granule} * warps_ + read.warp->index;
    uint32_t& last = read_by_warp_[at];
    if (!read_lanes_.empty()) {
      if (last < interval_ || last < read.sync_stamp) {
        read_lanes_[at] = 0;
        read_first_[at] = read.stamp;
      }
      read_lanes_[at] |= 1u << lane;
    }
    last = std::max(last, read.stamp);
  }
}

void SharedShadow::examine_load(Warp& w, uint32_t site, uint32_t base_bytes, const Pattern& p) {
  const bool is_polling = w.worker->image->sites[site].is_polling;
  uint32_t reported = 0;  // lanes: one finding each, however many granules they read
  auto report_once = [&](uint32_t lane, auto report) {
    if (!(reported >> lane & 1)) report();
    reported |= 1u << lane;
  };
  auto examine = [&](uint32_t lane, uint32_t granule) {
    const uint32_t record = writer_[granule];
    const bool is_copied = kind_of(record) == kCopied && record >= stamped(first_);
    const bool in_flight = is_pending(record) && is_bulk(w, writer_site_[granule]);
    if (in_flight || (is_copied && !is_pending(record) && written_by_other(w, granule, lane))) {
      report_once(lane, [&] { report_in_flight(w, site, lane, granule); });
    } else if (record < stamped(first_) || is_pending(record)) {
      if (initialised_) report_once(lane, [&] { report_uninitialised(w, site, lane, granule); });
    } else if (is_polling) {
      acquire(w, granule);
    } else if (races_ && written_by_other(w, granule, lane)) {
      report_once(lane, [&] { report_race(w, site, lane, granule, true); });
    }
  };
  for_each_lane(p.mask, [&](int lane) {
    const uint32_t first = base_bytes + uint32_t(p.delta[size_t(lane)]);
    for (uint32_t granule = first >> shift_; granule <= (first + p.bytes - 1) >> shift_; ++granule)
      examine(uint32_t(lane), granule);
  });
}

void SharedShadow::examine_store(Warp& w, uint32_t site, uint32_t base_bytes, const Pattern& p,
                                 const std::byte* values) {
  enter_reads();
  const bool is_volatile = w.worker->image->sites[site].is_volatile;
  const std::byte* memory = w.worker->shared + base_bytes;
  const uint32_t granule_bytes = 1u << shift_;
  auto each_granule = [&](auto body) {
    for_each_lane(p.mask, [&](int lane) {
      for (uint32_t at = 0; at < p.bytes; at += granule_bytes)
        body(lane, at, (base_bytes + uint32_t(p.delta[lane]) + at) >> shift_);
    });
  };
  auto changes = [&](int lane, uint32_t at) {
    return std::memcmp(memory + p.delta[lane] + at, values + 16 * lane + at,
                       std::min<uint32_t>(granule_bytes, p.bytes)) != 0;
  };
  if (races_) {
    uint32_t reported = 0;
    each_granule([&](int lane, uint32_t at, uint32_t granule) {
      if (reported >> lane & 1) return;
      // Writing the value that is there already does no harm.
      const uint32_t record = writer_[granule];
      const bool atomic_before =
          kind_of(record) == kAtomic && !is_pending(record) && record >= stamped(interval_);
      const bool exempt = atomic_before && is_volatile;
      const BulkReader* copy =
          bulk_readers_.empty() ? nullptr : bulk_reader_of(granule << shift_, granule_bytes);
      if (copy != nullptr) {
        describe_shared_race(w, site, uint32_t(lane), granule << shift_, copy->thread, copy->site,
                             false);
        reported |= 1u << lane;
        return;
      }
      if (!exempt && written_by_other(w, granule, lane) &&
          (is_pending(record) || changes(lane, at))) {
        report_race(w, site, lane, granule, true);
        reported |= 1u << lane;
      } else if (!atomic_before && read_by_other(w, granule, lane) && changes(lane, at)) {
        report_race(w, site, lane, granule, false);
        reported |= 1u << lane;
      }
    });
  }
  each_granule([&](int lane, uint32_t at, uint32_t granule) {
    const uint32_t mine =
        stamped(ledger_.now) | (is_volatile ? kAtomic : 0) | w.index << 5 | uint32_t(lane);
    if (races_ && p.overlapping && !is_volatile && lane_of(writer_[granule]) != uint32_t(lane) &&
        (writer_[granule] & ~31u) == (mine & ~31u) && writer_site_[granule] == site) {
      const int before = int(lane_of(writer_[granule]));
      const int32_t from = p.delta[lane] + int32_t(at) - p.delta[before];
      const bool in_this_store = (p.mask >> before & 1) && from >= 0 && from < p.bytes;
      if (in_this_store && std::memcmp(values + 16 * before + from, values + 16 * lane + at,
                                       std::min<uint32_t>(granule_bytes, p.bytes)) != 0) {
        report_race(w, site, lane, granule, true);
      }
    }
    writer_[granule] = mine;
    writer_site_[granule] = site;
    note_write(granule, ledger_.now);
  });
  if (is_volatile && flags_) tick();
}

// Two atomics, or an atomic after a volatile store, whose order matters: one of them asks for the
// value, does not wait for it, and the two do not commute.
bool SharedShadow::is_contended(const MemorySite& mine, const MemorySite& other) {
  auto asks = [](const MemorySite& s) { return s.is_atomic && s.is_used && !s.is_polling; };
  if (!asks(mine) && !asks(other)) return false;
  return !other.is_atomic || mine.atom != other.atom;
}

// Whoever has read what another warp wrote for others to see comes after what that one did before.
void SharedShadow::acquire(Warp& w, uint32_t granule) {
  const uint32_t record = writer_[granule];
  if (!flags_ || is_pending(record) || kind_of(record) != kAtomic || warp_of(record) == w.index)
    return;
  const Warp& from = w.worker->warps[warp_of(record)];
  for (size_t x = 0; x < w.known_stamp.size(); ++x) {
    w.known_stamp[x] = std::max(w.known_stamp[x], from.known_stamp[x]);
    w.known_time[x] = std::max(w.known_time[x], from.known_time[x]);
  }
  uint32_t& known = w.known_stamp[from.index];
  known = std::max(known, (record >> kStampShift) + 1);
  if (from.known != nullptr) {  // and of the copies in bulk that have come
    if (w.known == nullptr) w.known = std::make_unique<Knowledge>();
    for (size_t i = 0; i < from.known->copies.size(); ++i)
      w.known->merge_copies(uint32_t(i), from.known->copies[i]);
  }
  w.block->has_partial_order = true;
}

void SharedShadow::atomic(Warp& w, uint32_t site, uint32_t base_bytes, const Pattern& p) {
  enter_reads();
  const std::vector<MemorySite>& sites = w.worker->image->sites;
  for_each_lane(p.mask, [&](int lane) {
    const uint32_t offset = base_bytes + uint32_t(p.delta[lane]);
    for (uint32_t granule = offset >> shift_; granule <= (offset + p.bytes - 1) >> shift_;
         ++granule) {
      const uint32_t record = writer_[granule];
      if (record < stamped(first_) || is_pending(record)) {
        if (initialised_ && (is_pending(record) || !sites[site].only_stores()))
          report_uninitialised(w, site, lane, granule);
      } else if (races_ && written_by_other(w, granule, lane) &&
                 (kind_of(record) != kAtomic ||
                  is_contended(sites[site], sites[writer_site_[granule]]))) {
        report_race(w, site, lane, granule, true);
      }
      if (sites[site].is_used) acquire(w, granule);
      if (races_ && read_by_other(w, granule, lane)) report_race(w, site, lane, granule, false);
      writer_[granule] = stamped(ledger_.now) | kAtomic | w.index << 5 | uint32_t(lane);
      writer_site_[granule] = site;
      note_write(granule, ledger_.now);
    }
  });
}

void SharedShadow::async_issue(Warp& w, uint32_t site, uint32_t lane, uint32_t base,
                               uint32_t bytes) {
  const uint32_t last = ((base + bytes - 1) >> shift_) / kGranulesPerChunk;
  for (uint32_t chunk = (base >> shift_) / kGranulesPerChunk; chunk <= last; ++chunk) {
    if (is_bit(chunk, &Region::read)) enter_reads();  // else nobody has read here
  }
  for (uint32_t granule = base >> shift_; granule <= (base + bytes - 1) >> shift_; ++granule) {
    if (races_ && written_by_other(w, granule, lane))
      report_race(w, site, lane, granule, true);
    else if (races_ && read_by_other(w, granule, lane))
      report_race(w, site, lane, granule, false);
    writer_[granule] = kPending | w.index << 5 | lane;
    writer_site_[granule] = site;
    note_write(granule, kUnsettled);
  }
}

void SharedShadow::async_arrive(Warp& w, uint32_t lane, uint32_t base, uint32_t bytes) {
  for (uint32_t granule = base >> shift_; granule <= (base + bytes - 1) >> shift_; ++granule) {
    if (is_pending(writer_[granule])) writer_[granule] = stamped(ledger_.now) | w.index << 5 | lane;
  }
}

void SharedShadow::use_mbarrier(Warp& w, uint32_t site, uint32_t lane, uint32_t base) {
  const uint32_t granule = base >> shift_;
  if (written_by_other(w, granule, lane)) report_race(w, site, lane, granule, true);
}

void SharedShadow::report_uninitialised(Warp& w, uint32_t site, uint32_t lane, uint32_t granule) {
  const PendingWrite copy{writer_site_[granule], writer_[granule] & kThreadMask};
  describe_uninitialised_shared(w, site, lane, granule << shift_,
                                is_pending(writer_[granule]) ? &copy : nullptr);
}

void SharedShadow::report_race(Warp& w, uint32_t site, uint32_t lane, uint32_t granule,
                               bool other_wrote) {
  uint32_t other = writer_[granule] & kThreadMask;
  uint32_t other_site = writer_site_[granule];
  if (!other_wrote) {
    const uint32_t me = w.index << 5 | lane;
    other = reader_[granule] & kThreadMask;
    if (other == me) other = reader_site_[granule] & kThreadMask;
    other_site = reader_site_[granule] >> kSiteShift;
  }
  describe_shared_race(w, site, lane, granule << shift_, other, other_site, other_wrote);
}

}  // namespace warpsim
